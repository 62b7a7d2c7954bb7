"""Slices of Enflame cards. Rules ENF-1 to ENF-11, cases ENF-E01 to ENF-E10, ENF-E22 to ENF-E30."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage
from scheduler_app.devices import enflame
from scheduler_app.devices.enflame.config import Config
from tests.devices.enflame.slices import CORES, COUNT, DRS, KEY, MEM, drs_card, drs_node
from tests.devices.placing import OneNode
from tests.factories import make_container, make_context, make_draft, make_pod

TWO_CARDS = ({"index": "0", "capacity": 6}, {"index": "1", "minor": "5", "capacity": 6})


def fit(
    *cards: CardUsage, size: int = 1, annotations: dict[str, str] | None = None, policy: str = "spread"
) -> tuple[list[str], str]:
    """Return the ids of the cards taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}), policy=policy)
    result = DRS.fit(context, cards, CardRequest(1, KEY, size, 0, 0))
    return [str(held.card) for held in result.allocations], result.reason


@pytest.mark.parametrize(
    ("resources", "limits", "requests"),
    [
        ({"limits": {COUNT: 3}}, {COUNT: "3"}, {COUNT: "3"}),
        ({"requests": {COUNT: 3}}, {COUNT: "3"}, {COUNT: "3"}),
        ({"limits": {COUNT: 3}, "requests": {COUNT: 5}}, {COUNT: "3"}, {COUNT: "5"}),
        (
            {"limits": {MEM: 20480}, "requests": {CORES: 40}},
            {MEM: "20480", CORES: "40"},
            {MEM: "20480", CORES: "40"},
        ),
        ({"limits": {COUNT: "1500m"}}, {COUNT: "1500m"}, {COUNT: "1500m"}),
        ({"limits": {COUNT: 1, MEM: -7}}, {COUNT: "1", MEM: "-7"}, {COUNT: "1"}),
    ],
)
def test_amounts_are_written_to_limits_and_requests(
    resources: dict[str, dict[str, object]], limits: dict[str, str], requests: dict[str, str]
) -> None:
    """ENF-E01, ENF-E03, ENF-E05: a count decides alone."""
    draft = make_draft(**resources)
    assert DRS.mutate(draft, draft.pod) is True
    assert (draft.limits, draft.requests) == (limits, requests)


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({"limits": {COUNT: 0}}, f"{COUNT} must be greater than 0"),
        ({"limits": {COUNT: -1}}, f"{COUNT} must be greater than 0"),
        ({"limits": {COUNT: 0}, "requests": {COUNT: 3}}, f"{COUNT} must be greater than 0"),
        ({"limits": {MEM: 0}}, f"{MEM} must be greater than 0"),
        ({"limits": {MEM: -5}}, f"{MEM} must be greater than 0"),
        ({"limits": {MEM: 0}, "requests": {MEM: 20}}, f"{MEM} must be greater than 0"),
        ({"limits": {CORES: 0}}, f"{CORES} must be in range (0,100]"),
        ({"limits": {CORES: 101}}, f"{CORES} must be in range (0,100]"),
        ({"limits": {MEM: 20, CORES: 0}}, f"{CORES} must be in range (0,100]"),
    ],
)
def test_amounts_that_make_no_sense_are_refused(
    resources: dict[str, dict[str, object]], message: str
) -> None:
    """ENF-E02, ENF-E06, ENF-E07."""
    draft = make_draft(**resources)
    with pytest.raises(AdmissionError) as refused:
        DRS.mutate(draft, draft.pod)
    assert str(refused.value) == message


def test_a_pod_without_our_resources_is_not_ours() -> None:
    """ENF-4."""
    draft = make_draft(limits={"cpu": 1})
    assert DRS.mutate(draft, draft.pod) is False
    assert draft.pod.operations == []


@pytest.mark.parametrize(("name", "text"), [(COUNT, "1500m"), (MEM, "16Gi"), (CORES, "500m")])
def test_an_amount_that_is_not_read_as_written_earns_a_warning(name: str, text: str) -> None:
    """ENF-E03, ENF-E08; architecture, section 7."""
    draft = make_draft(limits={name: text})
    assert DRS.mutate(draft, draft.pod) is True
    assert draft.pod.warnings == [
        f"container main: {name} is {text}, must be a whole number between 0 and 2147483647"
    ]


@pytest.mark.parametrize(
    ("limits", "request_"),
    [
        ({COUNT: 3}, CardRequest(1, KEY, 3, 0, 0)),
        ({COUNT: "1500m"}, None),
        ({COUNT: 2147483648}, None),
        ({COUNT: "1500m", MEM: 8}, CardRequest(1, KEY, 8, -1, 0)),
        ({MEM: 20480, CORES: 40}, CardRequest(1, KEY, 20480, -1, 40)),
        ({CORES: "500m"}, CardRequest(1, KEY, 0, -1, 1)),
        ({MEM: "1500m"}, CardRequest(1, KEY, 2, -1, 0)),
        ({MEM: "16Gi"}, None),
        ({MEM: -5}, CardRequest(1, KEY, -5, -1, 0)),
        ({CORES: 200}, CardRequest(1, KEY, 0, -1, 200)),
        ({CORES: 3000000000}, None),
        ({MEM: -3000000000}, None),
        ({"cpu": 1}, None),
    ],
)
def test_a_request_is_a_size_or_a_specification(
    limits: dict[str, object], request_: CardRequest | None
) -> None:
    """ENF-E01, ENF-E03, ENF-E04, ENF-E05, ENF-E08, ENF-E09; nothing wraps around at 32 bits."""
    assert DRS.request(make_container(limits=limits)) == request_


def test_names_have_defaults() -> None:
    """ENF-E10."""
    assert (DRS.names.count, DRS.names.mem, DRS.names.cores) == (COUNT, MEM, CORES)
    _, legacy = enflame.build(Config(resource_name_vgcu="v/x"))
    assert legacy.names.count == "v/x"
    _, named = enflame.build(Config(resource_name_vgcu="v/x", resource_name_drs_gcu="d/x"))
    assert named.names.count == "d/x"


@pytest.mark.parametrize(
    ("state", "size", "reason"),
    [
        (drs_card(used=(5, 0, 0)), 6, ""),
        (drs_card(used=(6, 0, 0)), 1, "1/1 CardTimeSlicingExhausted"),
        (drs_card(used=(1, 20481, 0)), 3, "1/1 CardInsufficientMemory"),
        (drs_card(used=(1, 0, 51)), 3, "1/1 CardInsufficientCore"),
        (drs_card(used=(1, 0, 50)), 3, ""),
        (drs_card(used=(1, 0, 84)), 1, "1/1 CardInsufficientCore"),
        (drs_card(healthy=False), 1, "1/1 CardNotHealth"),
        (drs_card(), 2, "1/1 ModeNotFit"),
    ],
)
def test_memory_and_cores_decide_and_free_slices_do_not(state: CardUsage, size: int, reason: str) -> None:
    """ENF-E17, ENF-E22, ENF-E23, ENF-E29 [quirk]."""
    assert fit(state, size=size) == ([] if reason else ["a"], reason)


def test_a_profile_may_come_from_a_card_that_cannot_be_used() -> None:
    """ENF-E26."""
    sick, full = drs_card("a", healthy=False), drs_card("b", {}, used=(6, 0, 0))
    assert fit(sick, full) == ([], "1/2 CardNotHealth, 1/2 CardTimeSlicingExhausted")


def test_id_lists_and_mutex_are_obeyed() -> None:
    """ENF-7."""
    assert fit(drs_card(), annotations={"enflame.com/nouse-gpuuuid": "a"}) == ([], "1/1 CardUuidMismatch")
    busy = drs_card(used=(1, 0, 0))
    assert fit(busy, policy="mutex") == ([], "1/1 ExclusiveDeviceAllocateConflict")


def test_a_pod_is_told_its_slice() -> None:
    """ENF-E27."""
    one = OneNode(DRS, node=drs_node(TWO_CARDS))
    one.place(make_container("c1", limits={COUNT: 3}))
    slices = '{"c1":{"allocated":false,"request":3,"profileID":"1","profileName":"3g.20gb"}}'
    assert one.written == {
        "hami.io/enflame-vgpu-devices-allocated": "n1-enflame-drs-1,Enflame,20480,50:;",
        "enflame.com/gcu-assigned": "false",
        "enflame.com/gcu-assigned-time": "1700000000000000000",
        "enflame.com/gcu-assigned-index": "1",
        "enflame.com/gcu-assigned-id": "1",
        "enflame.com/gcu-assigned-minor": "5",
        "enflame.com/gcu-request-size": "3",
        "assigned-containers": slices,
    }
    assert set(one.written) == set(DRS.written_keys)


def test_of_several_containers_the_first_is_described_and_all_are_listed() -> None:
    """ENF-E28."""
    one = OneNode(DRS, node=drs_node(TWO_CARDS))
    one.place(make_container("c0", limits={COUNT: 1}), make_container("c1", limits={COUNT: 3}))
    assert one.written["hami.io/enflame-vgpu-devices-allocated"] == (
        "n1-enflame-drs-1,Enflame,6144,17:;n1-enflame-drs-0,Enflame,20480,50:;"
    )
    assert one.written["enflame.com/gcu-request-size"] == "1"
    assert one.written["enflame.com/gcu-assigned-index"] == "1"
    assert list(json.loads(one.written["assigned-containers"])) == ["c0", "c1"]


def test_slices_count_inside_a_pod_and_containers_once_it_is_recorded() -> None:
    """ENF-8 [quirk]: the second container sees three slices used, the next pod one."""
    one = OneNode(DRS, node=drs_node([{"index": "0", "capacity": 3}]))
    refused = one.place(make_container(limits={COUNT: 3}), make_container(limits={COUNT: 1}))
    assert refused.reason == "1/1 CardTimeSlicingExhausted"
    one.place(make_container(limits={COUNT: 3}))
    assert one.card("n1-enflame-drs-0").shares_used == 1


@pytest.mark.parametrize(("size", "used"), [(3, 5), (None, 3), (0, 3), (2147483647, 2147483647)])
def test_added_slices_stay_inside_32_bits(size: object, used: int) -> None:
    """ENF-8, ENF-E30."""
    custom = {} if size is None else {"drsSlice": size}
    held = replace(Allocation(CardId("a"), KEY, 6144, 17), custom=custom)
    card, _ = DRS.add_usage(drs_card(used=(2, 0, 0)), held, make_pod())
    assert (card.shares_used, card.mem_used_mib, card.cores_used) == (used, 6144, 17)


@given(st.lists(st.sampled_from([1, 3, 6]), max_size=12))
def test_no_card_ever_gives_more_than_it_has(sizes: list[int]) -> None:
    one = OneNode(DRS, node=drs_node(TWO_CARDS))
    for size in sizes:
        before = one.usage
        if one.place(make_container(limits={COUNT: size})).devices is None:
            assert one.usage == before
    for card in one.usage.cards:
        assert card.mem_used_mib <= card.card.mem_mib
        assert card.cores_used <= 100
        assert card.shares_used <= card.card.shares
