"""How many nodes an Event names."""

from scheduler_app.core.types import NodeName
from scheduler_app.engine import notices


def names(count: int) -> list[NodeName]:
    return [NodeName(f"n{number:04}") for number in range(count)]


def test_as_many_names_as_people_read_are_told_in_full() -> None:
    """F-34."""
    (message,) = notices.refusals({"1/1 CardNotHealth": names(notices.LISTED)})
    assert message == f"200 nodes CardNotHealth({','.join(names(200))})"


def test_of_more_names_the_first_are_told_and_the_rest_counted() -> None:
    """F-34, where the reference names all of them."""
    (message,) = notices.refusals({"1/1 CardNotHealth": names(5000)[::-1]})
    assert message.startswith("5000 nodes CardNotHealth(n0000,n0001,")
    assert message.endswith(",n0199,… 4800 more)")
