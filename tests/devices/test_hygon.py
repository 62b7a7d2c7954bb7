"""Hygon DCU: requests, registration, type lists."""

from typing import Any

import pytest

from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from scheduler_app.core.fit import FitResult
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, Pod, VendorKey
from scheduler_app.devices.hygon import VENDOR, Config, DcuBackend
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

KEY = VendorKey("DCU")
NUM, MEM, CORES = "hygon.com/dcunum", "hygon.com/dcumem", "hygon.com/dcucores"
REGISTER = "hami.io/node-dcu-register"


def make_dcu(*, factor: int = 1) -> DcuBackend:
    return DcuBackend(Config(NUM, MEM, CORES, factor))


def request(*, factor: int = 1, **groups: dict[str, Any]) -> CardRequest | None:
    return make_dcu(factor=factor).request(make_container(**groups))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({"limits": {NUM: 1}}, CardRequest(1, KEY, 0, 100, 100)),
        (
            {"limits": {NUM: 1}, "requests": {MEM: 1024, CORES: 1}},
            CardRequest(1, KEY, 1024, 0, 1),
        ),
        ({"limits": {NUM: 1, MEM: 5}, "requests": {MEM: 9, CORES: 7}}, CardRequest(1, KEY, 5, 0, 7)),
        ({"limits": {NUM: 1, MEM: 0}}, CardRequest(1, KEY, 0, 100, 100)),
        ({"limits": {NUM: 1, MEM: "1500m"}}, CardRequest(1, KEY, 0, 100, 100)),
        ({"limits": {NUM: 1, MEM: "-1m"}}, CardRequest(1, KEY, 0, 100, 100)),
        ({"limits": {NUM: 1, MEM: "100Ti"}}, CardRequest(1, KEY, 0, 100, 100)),
        ({"limits": {NUM: 1, CORES: 0}}, CardRequest(1, KEY, 0, 100, 0)),
        ({"limits": {NUM: 1, CORES: 250}}, CardRequest(1, KEY, 0, 100, 250)),
        ({"limits": {NUM: 1, CORES: "10500m"}}, CardRequest(1, KEY, 0, 100, 100)),
    ],
)
def test_amounts_are_read_as_written(groups: dict[str, Any], expected: CardRequest) -> None:
    """DCU-21 to DCU-24, DCU-E01, DCU-E03, DCU-E04, DCU-E06, DCU-E08, DCU-E09."""
    assert request(**groups) == expected


@pytest.mark.parametrize(
    "limits",
    [
        *({NUM: count} for count in (0, -1, "1500m", 2147483648)),
        *({NUM: 1, MEM: memory} for memory in (-1, 2147483648, "16Gi")),
        *({NUM: 1, CORES: cores} for cores in (-1, 2147483648)),
        {MEM: 5},
    ],
)
def test_what_cannot_be_served_asks_nothing(limits: dict[str, Any]) -> None:
    """DCU-21 to DCU-23, DCU-E05, DCU-E07, DCU-E09."""
    assert request(limits=limits) is None


@pytest.mark.parametrize(
    ("factor", "memory", "expected"),
    [(0, 1024, 1024), (1, 1024, 1024), (1024, 1024, 1048576), (1024, 3000000, None)],
)
def test_memory_counts_in_the_configured_unit(factor: int, memory: int, expected: int | None) -> None:
    """DCU-22, DCU-E02, DCU-E10."""
    found = request(factor=factor, limits={NUM: 1, MEM: memory, CORES: 30})
    assert (found and found.mem_mib) == expected


@pytest.mark.parametrize("count", [0, -1, "1500m", 2147483648, 1])
def test_any_count_in_limits_makes_the_pod_ours(count: object) -> None:
    """DCU-20, DCU-E05: nothing is changed; what will be dropped earns a warning."""
    container = make_draft(limits={NUM: count})
    assert make_dcu().mutate(container, container.pod)
    assert container.pod.operations == []
    assert bool(container.pod.warnings) == (count != 1)


def test_a_count_in_requests_only_is_not_ours() -> None:
    """DCU-20, VB-8."""
    container = make_draft(requests={NUM: 1})
    assert not make_dcu().mutate(container, container.pod)


def test_a_node_registers_its_cards_in_segments() -> None:
    """DCU-11, DCU-13, DCU-E12, DCU-E13: seven fields or nine."""
    node = make_node(annotations={REGISTER: "DCU-0,4,16384,100,DCU-Z100L,1,true:"})
    (card,) = make_dcu().node_cards(node)
    assert (card.index, card.mode, card.numa, card.vendor, card.type) == (0, "hami-core", 1, KEY, "DCU-Z100L")
    text = "DCU-0,4,16384,100,DCU-Z100L,1,T,3,hcore:DCU-1,4,16384,100,DCU-K100,0,0,4,:"
    first, second = make_dcu().node_cards(make_node(annotations={REGISTER: text}))
    assert (first.index, first.healthy, first.mode) == (3, True, "hcore")
    assert (second.index, second.healthy, second.mode) == (4, False, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, f"annos not found {REGISTER}"),
        ("", "node annotation missing device separator"),
        ("a,1,2,3,t,0,true,1:", "unexpected field count 8 in node annotation"),
        ("a,1,2,3,t:", "unexpected field count 5 in node annotation"),
        ("a,1,2,3,t,0,true:junk:", 'malformed node annotation segment: "junk"'),
        ("a,1,2,3,t,0,true: :", 'malformed node annotation segment: " "'),
        ("a,1,2,3,t,0,true,-1,m:", "index field must not be negative: -1"),
        ("a,x,2,3,t,0,true:", "invalid count field: "),
        ("a,1,3000000000,3,t,0,true:", "invalid memory field: "),
        ("a,1,2,3,t,,true:", "invalid numa field: "),
        ("a,1,2,3,t,0,yes:", "invalid health field: "),
    ],
)
def test_a_registration_that_cannot_be_read_is_an_error(text: str | None, message: str) -> None:
    """DCU-10, DCU-11, VB-20, DCU-E11, DCU-E14 to DCU-E16."""
    annotations = {} if text is None else {REGISTER: text}
    with pytest.raises(CodecError) as caught:
        make_dcu().node_cards(make_node(annotations=annotations))
    assert str(caught.value).startswith(message)


def test_a_node_with_nothing_between_separators_has_no_cards() -> None:
    """DCU-12, DCU-E11."""
    with pytest.raises(EmptyRegistrationError, match="no gpu found on node"):
        make_dcu().node_cards(make_node(annotations={REGISTER: ":"}))


def fit(cards: list[CardUsage], pod: Pod | None = None, *, count: int = 1, **asked: int) -> FitResult:
    request = CardRequest(count, KEY, **{"mem_mib": 100, **asked})
    return make_dcu().fit(make_context(pod=pod), cards, request)


TWO_MODELS = [
    make_card(id="a", vendor="DCU", type="DCU-Z100L", mem_mib=16384),
    make_card(id="b", vendor="DCU", type="DCU-K100_AI", mem_mib=65536),
]


@pytest.mark.parametrize(
    ("annotations", "outcome"),
    [
        ({"hygon.com/use-dcutype": "z100"}, "a"),
        ({"hygon.com/nouse-dcutype": "k100,z100"}, "2/2 CardTypeMismatch"),
        ({"hygon.com/use-dcutype": "DCU", "hygon.com/nouse-dcutype": "k100"}, "a"),
        ({"hygon.com/use-dcutype": " , "}, "2/2 CardTypeMismatch"),
        (
            {"hygon.com/use-dcutype": "z100", "hygon.com/use-gpuuuid": "b"},
            "1/2 CardTypeMismatch, 1/2 CardUuidMismatch",
        ),
        ({"hygon.com/use-dcutype": "", "hygon.com/nouse-dcutype": "  "}, "b"),
        ({"hygon.com/nouse-gpuuuid": "b"}, "a"),
    ],
)
def test_type_and_uuid_lists_choose_cards(annotations: dict[str, str], outcome: str) -> None:
    """DCU-40, DCU-41, VB-17, DCU-E17 to DCU-E21, DCU-E26."""
    result = fit(TWO_MODELS, make_pod(annotations=annotations))
    assert outcome == (result.allocations[0].card if result.is_fit else result.reason)


def test_whole_cards_take_each_cards_own_memory() -> None:
    """DCU-E22."""
    result = fit(TWO_MODELS, count=2, mem_mib=0, mem_percent=100, cores=100)
    assert [(found.card, found.mem_mib) for found in result.allocations] == [("b", 65536), ("a", 16384)]


def test_the_handover_has_the_same_text_twice() -> None:
    """DCU-43, DCU-E28."""
    given = tuple(Allocation(CardId(card), "DCU", 1000, 10) for card in "ab")
    text = ";a,DCU,1000,10:b,DCU,1000,10:;"
    assert make_dcu().annotations(make_pod(), ((), given), now_ns=0) == {
        "hami.io/dcu-devices-to-allocate": text,
        "hami.io/dcu-devices-allocated": text,
    }


def test_the_vendor_shares_the_common_lock_and_cleans_up_after_itself() -> None:
    """DCU-31, DCU-32, DCU-42."""
    (backend,) = VENDOR.build(Config())
    assert backend.node_lock is not None
    assert (backend.node_lock.annotation, backend.node_lock.has_owner) == ("hami.io/mutex.lock", True)
    assert backend.cleanup_keys == ("hami.io/node-handshake-dcu",)
    assert not backend.checks_quota
