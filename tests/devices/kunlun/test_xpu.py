"""Kunlun cards given whole. Rules KL-1 to KL-12, cases KL-E01 to KL-E24."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.errors import AdmissionError, CodecError
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, VendorKey
from scheduler_app.devices import kunlun
from tests.devices.kunlun.cards import COUNT, NOTHING, VXPU, XPU, wants, whole_node
from tests.devices.placing import OneNode
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

KEY = VendorKey("kunlun")
ALLOCATED = "hami.io/kunlun-allocated"


def row(*busy: int, cards: int = 8) -> list[CardUsage]:
    """Return cards in their natural order, those of ``busy`` in use."""
    return [
        make_card(
            id=f"xpu-{n}",
            vendor=KEY,
            index=n,
            shares=100,
            mem_mib=98304,
            used=(1, 98304, 100) if n in busy else (0, 0, 0),
        )
        for n in range(cards)
    ]


def fit(
    cards: list[CardUsage], number: int, annotations: dict[str, str] | None = None
) -> tuple[list[str], str]:
    """Return the ids of the cards taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}))
    result = XPU.fit(context, cards, CardRequest(number, KEY, 0, 100, 0))
    return [str(held.card) for held in result.allocations], result.reason


@pytest.mark.parametrize(
    ("resources", "request_"),
    [
        ({"limits": {COUNT: 1}}, CardRequest(1, KEY, 0, 100, 0)),
        ({"requests": {COUNT: 2}}, CardRequest(2, KEY, 0, 100, 0)),
        ({"limits": {COUNT: "1500m"}}, None),
        ({"limits": {COUNT: "4294967297"}}, None),
    ],
)
def test_a_request_is_a_number_of_cards(
    resources: dict[str, dict[str, object]], request_: CardRequest | None
) -> None:
    """KL-E01, except that nothing wraps around at 32 bits."""
    assert XPU.request(make_container(**resources)) == request_


def test_what_would_wrap_around_is_refused_at_admission() -> None:
    """Architecture, section 7."""
    draft = make_draft(limits={COUNT: "4294967297"})
    with pytest.raises(AdmissionError, match=f"invalid {COUNT} value 4294967297 in container main"):
        XPU.mutate(draft, draft.pod)


def test_only_limits_make_a_pod_ours() -> None:
    """KL-3."""
    named, hidden = make_draft(limits={COUNT: 2}), make_draft(requests={COUNT: 2})
    assert XPU.mutate(named, named.pod) is True
    assert XPU.mutate(hidden, hidden.pod) is False


@pytest.mark.parametrize(
    ("cards", "numa"), [(8, [0, 0, 0, 0, 1, 1, 1, 1]), (3, [0, 1, 1]), (1, [1]), (-2, [])]
)
def test_cards_come_from_capacity_and_halves_from_numa(cards: int, numa: list[int]) -> None:
    """KL-E02, KL-E03."""
    found = XPU.node_cards(whole_node(cards))
    assert [card.numa for card in found] == numa
    assert all((card.shares, card.mem_mib, card.cores) == (100, 98304, 100) for card in found)


@pytest.mark.parametrize("capacity", ["0", "1500m"])
def test_a_node_without_capacity_says_so(capacity: str) -> None:
    """KL-E03."""
    with pytest.raises(CodecError, match=f"device not found {COUNT}"):
        XPU.node_cards(make_node(capacity={COUNT: capacity}))


def test_a_node_is_always_healthy() -> None:
    """KL-2, VC-9."""
    health = XPU.health(make_node(), now=datetime(2026, 1, 2))  # noqa: DTZ001  (stamps carry no zone)
    assert (health.healthy, health.needs_update, health.stamp) == (True, True, False)
    assert XPU.cleanup_keys == ()


@pytest.mark.parametrize(
    ("annotations", "taken", "reason"),
    [
        ({"baidu.com/use-gpuuuid": "xpu-5"}, ["xpu-5"], ""),
        ({"hami.io/use-xpu-uuid": "xpu-3"}, ["xpu-3"], ""),
        ({"hami.io/use-xpu-uuid": "xpu-3", "baidu.com/nouse-gpuuuid": "xpu-3"}, [], "8/8 CardUuidMismatch"),
        ({"hami.io/use-xpu-uuid": "zzz"}, [], "8/8 CardUuidMismatch"),
    ],
)
def test_uuid_lists_of_both_kinds_hold(annotations: dict[str, str], taken: list[str], reason: str) -> None:
    """KL-6, KL-E11, KL-E13."""
    assert fit(row(), 1, annotations) == (taken, reason)


def test_uuid_lists_are_blamed_even_where_links_were_the_obstacle() -> None:
    """KL-E12."""
    assert fit(row(0, 1, 2, 4, 5), 4, {"hami.io/no-use-xpu-uuid": "xpu-0"}) == ([], "1/8 CardUuidMismatch")


def test_cards_that_do_not_go_together_are_refused_as_a_whole() -> None:
    """KL-E10."""
    assert fit(row(), 3) == ([], "1/8 NumaNotFit")


def test_a_sick_card_is_not_free() -> None:
    """KL-4."""
    cards = [make_card(id="a", vendor=KEY, healthy=False)]
    assert fit(cards, 1) == ([], "1/1 NumaNotFit")


def test_more_cards_than_there_are_never_come_to_a_choice() -> None:
    """KL-E14."""
    outcome = OneNode(XPU, node=whole_node()).place(wants(9))
    assert outcome.reason == "NodeInsufficientDevice"


@pytest.mark.parametrize(
    ("busy", "number", "policy", "taken"),
    [
        ([4], 2, "spread", [0, 1]),
        ([4], 2, "binpack", [5, 6]),
        ([5, 1], 4, "spread", [3, 4, 6, 7]),
        ([5, 1], 4, "binpack", [0, 2, 3, 4]),
    ],
)
def test_the_policy_moves_cards_between_the_wings(
    busy: list[int], number: int, policy: str, taken: list[int]
) -> None:
    """KL-E15 to KL-E17 [quirk]."""
    one = OneNode(XPU, node=whole_node())
    for index in busy:
        assert one.place(wants(1), annotations={"hami.io/use-xpu-uuid": f"n1-kunlun-{index}"}).devices
    outcome = one.place(wants(number), policy=policy)
    assert one.taken(outcome, KEY) == [[f"n1-kunlun-{index}" for index in taken]]


def test_numa_binding_groups_the_list() -> None:
    """KL-E18."""
    one = OneNode(XPU, node=whole_node())
    one.place(wants(1), annotations={"hami.io/use-xpu-uuid": "n1-kunlun-4"})
    outcome = one.place(wants(2), annotations={"nvidia.com/numa-bind": "true"})
    assert one.taken(outcome, KEY) == [["n1-kunlun-5", "n1-kunlun-6"]]


def test_four_cards_are_one_wing() -> None:
    """KL-E19."""
    one = OneNode(XPU, node=whole_node(4))
    assert one.taken(one.place(wants(2)), KEY) == [["n1-kunlun-0", "n1-kunlun-1"]]
    assert one.taken(one.place(wants(2)), KEY) == [["n1-kunlun-2", "n1-kunlun-3"]]
    assert one.place(wants(1)).reason == "1/4 NumaNotFit"


def test_every_container_keeps_its_place_and_the_last_one_is_described() -> None:
    """KL-E20."""
    one = OneNode(XPU, node=whole_node())
    one.place(wants(2))
    one.place(NOTHING, wants(1), wants(2))
    assert one.written == {
        ALLOCATED: ";n1-kunlun-2,kunlun,98304,100:;"
        "n1-kunlun-4,kunlun,98304,100:n1-kunlun-5,kunlun,98304,100:;",
        "BAIDU_COM_DEVICE_IDX": "4,5",
    }
    assert set(one.written) <= set(XPU.written_keys)


@pytest.mark.parametrize(
    ("before", "taken", "score"),
    [
        ([], [0], 0.0),
        ([], [0, 1], 1000.0),
        ([], [0, 1, 2, 3], 2000.0),
        ([], list(range(8)), 3000.0),
        ([0], [1], 2000.0),
        ([0, 1], [4], 1000.0),
        ([0, 1, 2, 3], [4], 0.0),
        ([0, 1, 2, 3], [4, 5, 6, 7], 2000.0),
        ([0, 4], list(range(8)), 1000.0),
        ([0, 1, 2, 3], list(range(8)), 3000.0),
        ([0], [], 1000.0),
        ([0, 1, 2, 3], [0, 1, 4], 0.0),
    ],
)
def test_a_node_scores_by_how_torn_its_wings_become(
    before: list[int], taken: list[int], score: float
) -> None:
    """KL-E21 to KL-E23."""
    assert XPU.score_node(scored(row(*before), taken)) == score


def test_another_vendor_on_the_node_makes_the_score_zero() -> None:
    """KL-E24."""
    cards = [*row(), make_card(id="other", vendor="XPU", type="XPU-P800")]
    assert XPU.score_node(scored(cards, [0, 1])) == 0.0


def test_memory_counts_only_once_a_pod_is_recorded() -> None:
    """KL-10 [quirk]."""
    (card,) = row(cards=1)
    held = Allocation(card.id, KEY, 98304, 100)
    used, _ = XPU.add_usage(card, held, make_pod())
    assert (used.shares_used, used.mem_used_mib, used.cores_used) == (1, 0, 0)


@given(st.sets(st.integers(0, 7)), st.integers(1, 8))
def test_a_card_in_use_is_never_given_again(busy: set[int], number: int) -> None:
    cards = row(*busy)
    before = list(cards)
    taken, reason = fit(cards, number)
    assert cards == before
    assert bool(taken) != bool(reason)
    assert not {f"xpu-{index}" for index in busy} & set(taken)


def test_slices_and_whole_cards_are_two_backends_of_one_vendor() -> None:
    """DCF-15."""
    assert [backend.vendor_key for backend in (XPU, VXPU)] == ["kunlun", "XPU"]
    assert kunlun.VENDOR.rank == 9


def scored(cards: list[CardUsage], taken: list[int]) -> ScoreInput:
    containers = (tuple(Allocation(CardId(f"xpu-{n}"), KEY, 98304, 100, index=n) for n in taken),)
    return ScoreInput(make_node(), make_pod(), containers, cards, "binpack")
