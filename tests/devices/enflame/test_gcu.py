"""Enflame cards given whole. Rules GCU-1 to GCU-5, cases GCU-E01 to GCU-E11."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.types import CardRequest, CardUsage, VendorKey
from scheduler_app.devices import enflame
from scheduler_app.devices.enflame.config import Config
from tests.devices.placing import OneNode
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

COUNT = "enflame.com/gcu"
KEY = VendorKey("GCU")
GCU, _ = enflame.build(Config(resource_name_gcu=COUNT))
NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)


def card(id: str = "a", **values: object) -> CardUsage:
    return make_card(id=id, vendor=KEY, **{"shares": 1, "mem_mib": 100, **values})  # type: ignore[arg-type]  # test data


def fit(*cards: CardUsage, number: int = 1, policy: str = "spread") -> tuple[list[str], str]:
    """Return the ids of the cards taken, and the reason text."""
    context = make_context(pod=make_pod(annotations={"enflame.com/use-gpuuuid": "zzz"}), policy=policy)
    result = GCU.fit(context, cards, CardRequest(number, KEY, 100, 100, 100))
    return [str(held.card) for held in result.allocations], result.reason


@pytest.mark.parametrize(
    ("text", "number"), [("1", 1), ("0", 0), ("-1", -1), ("1500m", None), ("4294967297", None)]
)
def test_a_request_is_a_number_of_cards(text: str, number: int | None) -> None:
    """GCU-E01, except that nothing wraps around at 32 bits."""
    asked = GCU.request(make_container(limits={COUNT: text}))
    assert asked == (None if number is None else CardRequest(number, KEY, 100, 100, 100))


def test_requests_count_but_make_no_pod_ours() -> None:
    """GCU-E02."""
    assert GCU.request(make_container(requests={COUNT: 2})) == CardRequest(2, KEY, 100, 100, 100)
    draft = make_draft(requests={COUNT: 2})
    assert GCU.mutate(draft, draft.pod) is False


@pytest.mark.parametrize("text", ["1", "0", "-1", "1500m"])
def test_every_count_in_the_limits_makes_a_pod_ours(text: str) -> None:
    """GCU-E01."""
    draft = make_draft(limits={COUNT: text})
    assert GCU.mutate(draft, draft.pod) is True
    assert bool(draft.pod.warnings) is (text in ("-1", "1500m"))


def test_what_would_wrap_around_is_refused_at_admission() -> None:
    """Architecture, section 7."""
    draft = make_draft(limits={COUNT: "4294967297"})
    with pytest.raises(AdmissionError, match=COUNT):
        GCU.mutate(draft, draft.pod)


@pytest.mark.parametrize(("capacity", "names"), [("2", ["n1-GCU-0", "n1-GCU-1"]), ("-2", [])])
def test_cards_come_from_capacity(capacity: str, names: list[str]) -> None:
    """GCU-E03."""
    found = GCU.node_cards(make_node("n1", capacity={COUNT: capacity}))
    assert [card.id for card in found] == names
    assert all((card.shares, card.mem_mib, card.cores) == (1, 100, 100) for card in found)


def test_a_node_fills_up_from_its_last_card() -> None:
    """GCU-E04, GCU-E05."""
    one = OneNode(GCU, node=make_node("n1", capacity={COUNT: "3"}))
    one.place(make_container(limits={COUNT: 2}))
    text = "n1-GCU-2,GCU,100,100:n1-GCU-1,GCU,100,100:;"
    assert one.written == {
        "hami.io/enflame-gcu-devices-allocated": text,
        "hami.io/enflame-gcu-devices-to-allocate": text,
    }
    refused = one.place(make_container(limits={COUNT: 2}))
    assert refused.reason == "1/3 AllocatedCardsInsufficientRequest, 2/3 ExclusiveDeviceAllocateConflict"


def test_two_containers_need_two_cards() -> None:
    """GCU-E06."""
    one = OneNode(GCU, node=make_node("n1", capacity={COUNT: "3"}))
    one.place(make_container(limits={COUNT: 2}))
    refused = one.place(make_container(limits={COUNT: 1}), make_container(limits={COUNT: 1}))
    assert refused.reason == "3/3 ExclusiveDeviceAllocateConflict"


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (card(), ""),
        (card(healthy=False), "1/1 CardNotHealth"),
        (card(used=(1, 0, 0)), "1/1 ExclusiveDeviceAllocateConflict"),
        (card(shares=0, mem_mib=0, cores=0), ""),
    ],
)
def test_an_idle_healthy_card_is_all_that_matters(state: CardUsage, reason: str) -> None:
    """GCU-4, GCU-E07, GCU-E08: id lists and amounts are not looked at."""
    assert fit(state) == ([] if reason else ["a"], reason)


def test_another_vendors_request_is_no_match() -> None:
    """GCU-E08."""
    result = GCU.fit(make_context(), [card()], CardRequest(1, VendorKey("OtherType")))
    assert result.reason == "1/1 CardTypeMismatch"


def test_too_few_cards_are_counted() -> None:
    """GCU-E09."""
    assert fit(card("a"), card("b"), number=3) == ([], "2/2 AllocatedCardsInsufficientRequest")


@given(st.lists(st.integers(1, 3), max_size=6))
def test_no_card_goes_to_two_pods(numbers: list[int]) -> None:
    one = OneNode(GCU, node=make_node("n1", capacity={COUNT: "5"}))
    for number in numbers:
        before = one.usage
        if one.place(make_container(limits={COUNT: number})).devices is None:
            assert one.usage == before
    assert all(card.shares_used <= 1 for card in one.usage.cards)
