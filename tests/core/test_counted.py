"""Vendors of whom a container asks a number of cards: how the number is read, refused and warned about."""

import pytest

from scheduler_app.core.backend import Keys, ResourceNames
from scheduler_app.core.counted import SharesOnlyBackend
from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.types import CardRequest, VendorKey
from tests.factories import make_card, make_container, make_context, make_draft, make_node

KEY = VendorKey("Counted")
COUNT = "counted.io/gpu"


class Counted(SharesOnlyBackend):
    vendor_key = KEY
    keys = Keys(allocated="a", register="register")
    names = ResourceNames(count=COUNT)


COUNTED = Counted()


@pytest.mark.parametrize(("text", "cards"), [("1", 1), ("0", 0), ("-1", -1), ("2k", 2000), ("1e3", 1000)])
def test_a_whole_number_is_asked_for_as_it_is(text: str, cards: int) -> None:
    """BR-E01: numbers below one are kept here and dropped by the caller (IF-9)."""
    asked = COUNTED.request(make_container(limits={COUNT: text}))
    assert asked == CardRequest(cards, KEY, 0, 100, 0)


@pytest.mark.parametrize("text", ["1500m", "1.0", "x", "4294967297", "2147483648", "9223372036854775807"])
def test_what_has_no_exact_reading_or_would_wrap_asks_for_nothing(text: str) -> None:
    """BR-6, BR-E04: the reference makes one card of 4294967297."""
    assert COUNTED.request(make_container(limits={COUNT: text})) is None


def test_limits_hide_requests() -> None:
    """BR-E02, BR-E03."""
    assert COUNTED.request(make_container(requests={COUNT: 1})) == CardRequest(1, KEY, 0, 100, 0)
    hidden = COUNTED.request(make_container(limits={COUNT: 0}, requests={COUNT: 3}))
    assert hidden == CardRequest(0, KEY, 0, 100, 0)
    assert COUNTED.request(make_container(limits={"cpu": 1})) is None


@pytest.mark.parametrize("text", ["1", "0", "-1", "1500m"])
def test_a_count_in_the_limits_is_ours_and_stays_as_it_is(text: str) -> None:
    """BR-5."""
    draft = make_draft(limits={COUNT: text})
    assert COUNTED.mutate(draft, draft.pod) is True
    assert draft.pod.operations == []


def test_a_count_in_the_requests_alone_is_not_ours() -> None:
    """BR-E02."""
    draft = make_draft(requests={COUNT: 1})
    assert COUNTED.mutate(draft, draft.pod) is False


@pytest.mark.parametrize("text", ["1500m", "-1"])
def test_a_count_that_asks_for_nothing_is_told(text: str) -> None:
    draft = make_draft(limits={COUNT: text})
    COUNTED.mutate(draft, draft.pod)
    (warning,) = draft.pod.warnings
    assert "container main" in warning
    assert f"{COUNT} is {text}" in warning


def test_a_count_that_would_wrap_is_refused_by_name() -> None:
    draft = make_draft(limits={COUNT: 2**32 + 1})
    with pytest.raises(AdmissionError, match=r"counted\.io/gpu value 4294967297 in container main"):
        COUNTED.mutate(draft, draft.pod)


def test_registered_cores_become_a_hundred() -> None:
    """BR-E05, VS-E02: card scores divide by cores, which nobody counts here."""
    text = '[{"id":"a","count":1,"devmem":32768,"devcore":7,"type":"Counted","custominfo":{"x":1}}]'
    (card,) = COUNTED.node_cards(make_node(annotations={"register": text}))
    assert (card.cores, card.mem_mib, card.vendor, card.custom) == (100, 32768, KEY, {"x": 1})


def test_full_memory_and_cores_refuse_nothing() -> None:
    """BR-E09: the record has no memory, and the cores that were asked for."""
    card = make_card(vendor=KEY, used=(1, 16384, 100), custom={"x": 1})
    result = COUNTED.fit(make_context(), [card], CardRequest(1, KEY, mem_mib=5000, mem_percent=100, cores=77))
    (taken,) = result.allocations
    assert (taken.mem_mib, taken.cores, taken.custom) == (0, 77, {"x": 1})
