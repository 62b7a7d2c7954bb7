"""Slices of Kunlun cards. Rules KLV-1 to KLV-10, cases KLV-E01 to KLV-E30."""

import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from scheduler_app.core.types import CardRequest, CardUsage, VendorKey
from tests.devices.kunlun.cards import NOTHING, REGISTER, VCOUNT, VMEM, VXPU, sliced_node, wants
from tests.devices.placing import OneNode
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

KEY = VendorKey("XPU")
QUARTER, HALF, WHOLE = 24576, 49152, 98304
ALLOCATED, TO_ALLOCATE = "hami.io/xpu-devices-allocated", "hami.io/xpu-devices-to-allocate"
NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)


def card(index: int = 0, *, slices: int = 0, mem_mib: int = 0, **values: object) -> CardUsage:
    """Return a card with so many slices of so much memory altogether."""
    defaults = {"id": f"d{index}", "shares": 4, "mem_mib": WHOLE, "used": (slices, mem_mib, 0)}
    return make_card(vendor=KEY, type="XPU-P800", index=index, **{**defaults, **values})  # type: ignore[arg-type]  # test data


def fit(
    cards: list[CardUsage],
    number: int = 1,
    size: int = QUARTER,
    *,
    policy: str = "spread",
    annotations: dict[str, str] | None = None,
) -> tuple[list[int], str]:
    """Return the numbers of the cards taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}), policy=policy)
    result = VXPU.fit(context, cards, CardRequest(number, KEY, size, 0, size * 100 // WHOLE))
    return [held.index for held in result.allocations], result.reason


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", QUARTER),
        ("1", QUARTER),
        ("-5", QUARTER),
        ("24576", QUARTER),
        ("24577", HALF),
        ("30000", HALF),
        ("49152", HALF),
        ("49153", WHOLE),
        ("200000", WHOLE),
        ("16Gi", WHOLE),
        ("100Ti", WHOLE),
        ("1500m", QUARTER),
    ],
)
def test_memory_becomes_a_slice_at_admission(text: str, size: int) -> None:
    """KLV-E02 to KLV-E05."""
    draft = make_draft(limits={VCOUNT: 1, VMEM: text}, requests={VMEM: "5"})
    assert VXPU.mutate(draft, draft.pod) is True
    assert (draft.limits[VMEM], draft.requests[VMEM]) == (str(size), str(size))


@pytest.mark.parametrize(
    ("resources", "is_ours"),
    [
        ({"limits": {VCOUNT: 1}, "requests": {VMEM: "30k"}}, True),
        ({"limits": {VMEM: 30000}}, False),
        ({"requests": {VCOUNT: 1, VMEM: 30000}}, False),
    ],
)
def test_memory_outside_the_limits_stays_as_it_is(
    resources: dict[str, dict[str, object]], is_ours: bool
) -> None:
    """KLV-E07, KLV-E08."""
    draft = make_draft(**resources)
    assert VXPU.mutate(draft, draft.pod) is is_ours
    assert draft.pod.operations == []


def test_an_amount_that_is_not_whole_earns_a_warning() -> None:
    """Architecture, section 7: the user is told."""
    draft = make_draft(limits={VCOUNT: 1, VMEM: "1500m"})
    VXPU.mutate(draft, draft.pod)
    assert draft.pod.warnings == [
        f"container main: {VMEM} is 1500m, must be a whole number between 0 and 2147483647"
    ]


@pytest.mark.parametrize(
    ("resources", "request_"),
    [
        ({"limits": {VCOUNT: 1}}, CardRequest(1, KEY, WHOLE, 100, 100)),
        ({"limits": {VCOUNT: 1, VMEM: 30000}}, CardRequest(1, KEY, HALF, 0, 50)),
        ({"limits": {VCOUNT: 1, VMEM: "1500m"}}, CardRequest(1, KEY, WHOLE, 100, 100)),
        ({"requests": {VCOUNT: 2, VMEM: 24576}}, CardRequest(2, KEY, QUARTER, 0, 25)),
        ({"limits": {VCOUNT: 0}}, CardRequest(0, KEY, WHOLE, 100, 100)),
        ({"limits": {VCOUNT: "1500m"}}, None),
        ({"limits": {VMEM: 24576}}, None),
    ],
)
def test_a_request_is_for_slices_or_whole_cards(
    resources: dict[str, dict[str, object]], request_: CardRequest | None
) -> None:
    """KLV-E01, KLV-E05 to KLV-E10."""
    assert VXPU.request(make_container(**resources)) == request_


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (None, CodecError, f"annos not found {REGISTER}"),
        ("[]", EmptyRegistrationError, "no device found on node"),
        ("null", EmptyRegistrationError, "no device found on node"),
        ("", CodecError, "not JSON"),
        ('[{"id":"a","index":-1}]', CodecError, "index"),
    ],
)
def test_a_node_without_cards_says_why(text: str | None, kind: type[CodecError], message: str) -> None:
    """KLV-E11."""
    node = make_node(annotations={} if text is None else {REGISTER: text})
    with pytest.raises(kind, match=message):
        VXPU.node_cards(node)


def test_a_card_keeps_its_model_and_gets_our_vendor_key() -> None:
    """KLV-E12."""
    text = json.dumps(
        [{"id": "xpu-0", "count": 4, "devmem": WHOLE, "type": "XPU-P800", "devicevendor": "zz"}]
    )
    (found,) = VXPU.node_cards(make_node(annotations={REGISTER: text}))
    assert (found.vendor, found.type, found.shares) == ("XPU", "XPU-P800", 4)


@pytest.mark.parametrize(("allocatable", "healthy"), [("0", False), ("3", True)])
def test_an_old_handshake_is_checked_against_the_count(allocatable: str, healthy: bool) -> None:
    """KLV-E28."""
    node = make_node(
        annotations={"hami.io/node-handshake-xpu": "Requesting_2026-01-02 11:58:00"},
        allocatable={VCOUNT: allocatable},
    )
    health = VXPU.health(node, now=NOON)
    assert (health.healthy, health.needs_update) == (healthy, False)
    assert VXPU.cleanup_keys == ("hami.io/node-handshake-xpu",)


@pytest.mark.parametrize(
    ("state", "fits"),
    [
        (card(), True),
        (card(slices=2, mem_mib=HALF), True),
        (card(slices=2, mem_mib=HALF + 1), True),
        (card(slices=1, mem_mib=HALF), False),
        (card(slices=4, mem_mib=WHOLE), False),
        (card(healthy=False), False),
    ],
)
def test_only_equal_slices_share_a_card(state: CardUsage, fits: bool) -> None:
    """KLV-E13."""
    assert fit([state]) == (([0], "") if fits else ([], "1/1 NumaNotFit"))


def test_a_node_fills_up_as_the_reference_fills_it() -> None:
    """KLV-E14 to KLV-E19."""
    one = OneNode(VXPU, node=sliced_node())
    assert one.taken(one.place(wants(1, QUARTER)), KEY) == [["x0"]]
    assert one.taken(one.place(wants(1, QUARTER)), KEY) == [["x0"]]
    assert (one.card("x0").shares_used, one.card("x0").mem_used_mib, one.card("x0").cores_used) == (
        2,
        HALF,
        50,
    )
    assert one.taken(one.place(wants(2, HALF)), KEY) == [["x1", "x2"]]
    assert one.taken(one.place(wants(4, WHOLE)), KEY) == [["x4", "x5", "x6", "x7"]]
    assert one.taken(one.place(wants(1, QUARTER), policy="mutex"), KEY) == [["x3"]]
    one.place(wants(1, QUARTER), NOTHING, wants(1, QUARTER))
    text = "x0,XPU,24576,25:;;x0,XPU,24576,25:;"
    assert one.written == {ALLOCATED: text, TO_ALLOCATE: text}
    assert one.place(wants(1, WHOLE)).reason == "1/8 NumaNotFit"


@pytest.mark.parametrize(
    ("cards", "number", "annotations", "reason"),
    [
        (
            [card(n, slices=1, mem_mib=QUARTER) for n in range(8)],
            1,
            {},
            "8/8 ExclusiveDeviceAllocateConflict",
        ),
        (
            [card(n, slices=int(n > 0), mem_mib=QUARTER * (n > 0)) for n in range(8)],
            2,
            {},
            "7/8 ExclusiveDeviceAllocateConflict",
        ),
        (
            [card(n, slices=int(n == 0), mem_mib=QUARTER * (n == 0)) for n in range(8)],
            2,
            {"hami.io/use-xpu-uuid": "d0"},
            "1/8 ExclusiveDeviceAllocateConflict",
        ),
        ([card(n) for n in range(8)], 2, {"hami.io/use-xpu-uuid": "d0"}, "7/8 CardUuidMismatch"),
    ],
)
def test_a_pod_that_wants_no_neighbours_is_told_about_them_first(
    cards: list[CardUsage], number: int, annotations: dict[str, str], reason: str
) -> None:
    """KLV-E20 to KLV-E23."""
    assert fit(cards, number, policy="mutex", annotations=annotations) == ([], reason)


def test_cards_of_smaller_slices_are_no_room_for_a_larger_one() -> None:
    """KLV-E24."""
    cards = [card(n, slices=1, mem_mib=QUARTER) for n in range(8)]
    assert fit(cards, size=HALF) == ([], "1/8 NumaNotFit")


@pytest.mark.parametrize(
    ("used", "number", "taken"),
    [
        ({1: (1, QUARTER), 3: (2, HALF), 5: (1, HALF)}, 4, [0, 1, 2, 3]),
        ({1: (1, QUARTER), 3: (1, HALF), 5: (1, QUARTER)}, 4, [4, 5, 6, 7]),
        ({0: (1, QUARTER), 1: (1, QUARTER), 5: (1, QUARTER), 2: (1, HALF)}, 1, [0]),
    ],
)
def test_wings_are_chosen_as_for_whole_cards(
    used: dict[int, tuple[int, int]], number: int, taken: list[int]
) -> None:
    """KLV-E25 to KLV-E27."""
    cards = [card(n, slices=used.get(n, (0, 0))[0], mem_mib=used.get(n, (0, 0))[1]) for n in range(8)]
    assert fit(cards, number) == (taken, "")


def test_a_model_without_the_vendors_word_is_no_candidate() -> None:
    """KLV-E29, KLV-1."""
    one = OneNode(VXPU, node=sliced_node(model="KUNLUN-P800"))
    assert one.place(wants(1, QUARTER)).reason == "NodeInsufficientDevice"


def test_an_empty_container_keeps_its_place_whatever_the_model() -> None:
    """KLV-E30 with Q-1 fixed: the placeholder is not lost."""
    one = OneNode(VXPU, node=sliced_node(model="P800-xPu", word="k"))
    one.place(NOTHING, make_container(limits={VCOUNT: 1}))
    assert one.written[ALLOCATED] == ";k0,XPU,98304,100:;"


@given(st.lists(st.sampled_from([QUARTER, HALF, WHOLE]), max_size=20))
def test_no_card_ever_holds_more_than_it_has(sizes: list[int]) -> None:
    one = OneNode(VXPU, node=sliced_node(2))
    for size in sizes:
        before = one.usage
        if one.place(wants(1, size)).devices is None:
            assert one.usage == before
    for card in one.usage.cards:
        assert card.mem_used_mib <= card.card.mem_mib
        assert card.cores_used <= 100
