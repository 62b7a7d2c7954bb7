"""How many nodes an Event names."""

from scheduler_app.core.types import NodeName
from scheduler_app.engine import notices


def refused(count: int) -> dict[NodeName, str]:
    return {NodeName(f"n{number:04}"): "1/1 CardNotHealth" for number in range(count)}


def test_as_many_names_as_people_read_are_told_in_full() -> None:
    """F-34."""
    (message,) = notices.refusals(refused(notices.LISTED))
    assert message == f"200 nodes CardNotHealth({','.join(sorted(refused(200)))})"


def test_of_more_names_the_first_are_told_and_the_rest_counted() -> None:
    """F-34, where the reference names all of them."""
    (message,) = notices.refusals(refused(5000))
    assert message.startswith("5000 nodes CardNotHealth(n0000,n0001,")
    assert message.endswith(",n0199,… 4800 more)")
