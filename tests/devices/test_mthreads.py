"""Moore Threads: units of 512 MiB, sixteenths of cores. Rules MT-1 to MT-42, cases MT-E01 to MT-E27."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.errors import AdmissionError, CodecError
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, Container, Containers
from scheduler_app.devices import mthreads
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

COUNT, MEM, CORES = "mthreads.com/vgpu", "mthreads.com/sgpu-memory", "mthreads.com/sgpu-core"
GPU_NUM = "mthreads.com/request-gpu-num"
(MTHREADS,) = mthreads.build(mthreads.Config(COUNT, MEM, CORES))
INVALID = "sGPU memory request value is invalid, valid values are [2, 4, 8, 16, 32, 64, 96]"
TOO_FEW = "must be greater than 0"


def card(id: str = "a", **values: object) -> CardUsage:
    values = {"shares": 100, "mem_mib": 49152, "cores": 16, **values}
    return make_card(id=id, vendor="Mthreads", **values)  # type: ignore[arg-type]  # test data


def ask(number: int = 1, mem_mib: int = 0, cores: int = 0) -> CardRequest:
    return CardRequest(number, mthreads.KEY, mem_mib, 0 if mem_mib else 100, cores)


def fit(
    given: Sequence[CardUsage],
    request: CardRequest,
    *,
    before: Sequence[str] = (),
    annotations: Mapping[str, str] | None = None,
) -> tuple[str, str]:
    """Return the ids taken and the reason; ``before`` are the cards of the pod's first container."""
    held: Containers = (tuple(Allocation(CardId(id), "Mthreads", 1, 1) for id in before),)
    pod = make_pod(annotations=annotations or {}, containers=(Container(), Container()))
    context = make_context(pod=pod, position=1, given={mthreads.KEY: held})
    result = MTHREADS.fit(context, given, request)
    return " ".join(taken.card for taken in result.allocations), result.reason


# Admission


@pytest.mark.parametrize(
    ("case", "resources", "limits"),
    [
        ("MT-E01", {"limits": {COUNT: 1}}, {COUNT: "1", MEM: "96", CORES: "16"}),
        ("MT-E02", {"limits": {COUNT: 1, CORES: 5}}, {COUNT: "1", MEM: "96", CORES: "16"}),
        ("MT-E03", {"limits": {COUNT: 1, MEM: 2}}, {COUNT: "1", MEM: "2"}),
        ("MT-E03", {"limits": {COUNT: 1, MEM: 96}}, {COUNT: "1", MEM: "96"}),
        ("MT-E05", {"limits": {COUNT: 2, MEM: 3, CORES: 1}}, {COUNT: "2", MEM: "192", CORES: "32"}),
        ("MT-E06", {"requests": {COUNT: 2}}, {MEM: "192", CORES: "32"}),
        ("MT-E06", {"requests": {COUNT: 1, MEM: 4}}, {MEM: "96", CORES: "16"}),
        ("MT-E08", {"limits": {COUNT: "1500m"}}, {COUNT: "1500m", MEM: "192", CORES: "32"}),
        ("MT-E08", {"limits": {COUNT: "500m"}}, {COUNT: "500m", MEM: "96", CORES: "16"}),
        ("VB-7", {"limits": {COUNT: 1000}}, {COUNT: "1000", MEM: "96k", CORES: "16k"}),
    ],
)
def test_whole_cards_get_all_they_have(
    case: str, resources: dict[str, dict[str, object]], limits: dict[str, str]
) -> None:
    """MT-11, MT-12."""
    draft = make_draft(**resources)
    assert MTHREADS.mutate(draft, draft.pod) is True, case
    assert draft.limits == limits, case


def test_several_cards_are_announced_to_the_node() -> None:
    """MT-11, MT-E05: from two cards on."""
    draft = make_draft(limits={COUNT: 2})
    MTHREADS.mutate(draft, draft.pod)
    assert draft.pod.annotations == {GPU_NUM: "2"}
    draft = make_draft(limits={COUNT: 1})
    MTHREADS.mutate(draft, draft.pod)
    assert draft.pod.annotations == {}


def test_memory_or_cores_alone_are_not_ours() -> None:
    """MT-10, MT-E09."""
    draft = make_draft(limits={MEM: 4, CORES: 1})
    assert MTHREADS.mutate(draft, draft.pod) is False
    assert draft.pod.operations == []


@pytest.mark.parametrize("text", ["0", "1", "3", "128", "2.0", "2000m"])
def test_a_part_of_a_card_has_one_of_seven_sizes(text: str) -> None:
    """MT-13, MT-E04."""
    draft = make_draft(limits={COUNT: 1, MEM: text})
    with pytest.raises(AdmissionError) as raised:
        MTHREADS.mutate(draft, draft.pod)
    assert str(raised.value) == INVALID


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({"limits": {COUNT: 0}}, f"{COUNT} {TOO_FEW}"),
        ({"limits": {COUNT: -1}}, f"{COUNT} {TOO_FEW}"),
        ({"limits": {COUNT: 0}, "requests": {COUNT: 2}}, f"{COUNT} {TOO_FEW}"),
        ({"limits": {COUNT: 10**17}}, f"{COUNT} must not exceed 96076792050570581, got {10**17}"),
        ({"limits": {COUNT: 1, MEM: 2, CORES: 2**31}}, f"invalid {CORES} value 2147483648 in container main"),
    ],
)
def test_impossible_amounts_are_refused(resources: dict[str, dict[str, object]], message: str) -> None:
    """MT-E07; and whatever the reference would wrap around."""
    draft = make_draft(**resources)
    with pytest.raises(AdmissionError) as raised:
        MTHREADS.mutate(draft, draft.pod)
    assert str(raised.value).startswith(message)


def test_a_fractional_count_is_told() -> None:
    """MT-14: two cards here, none at scheduling."""
    draft = make_draft(limits={COUNT: "1500m"})
    MTHREADS.mutate(draft, draft.pod)
    (warning,) = draft.pod.warnings
    assert f"{COUNT} is 1500m" in warning


# Requests


@pytest.mark.parametrize(
    ("case", "limits", "asked"),
    [
        ("MT-E01", {COUNT: 1, MEM: 96, CORES: 16}, ask(1, 49152, 16)),
        ("MT-E03", {COUNT: 1, MEM: 2}, ask(1, 1024)),
        ("MT-E05", {COUNT: 2, MEM: 192, CORES: 32}, ask(2, 49152, 16)),
        ("MT-E10", {COUNT: 43690, MEM: 43690 * 96, CORES: 43690 * 16}, ask(43690, 49152, 16)),
        ("MT-E11", {COUNT: 1, MEM: 4194303}, ask(1, 2147483136)),
        ("MT-E12", {COUNT: 3, MEM: 10, CORES: 10}, ask(3, 1706, 3)),
        ("MT-E12", {COUNT: 1000, MEM: 1}, CardRequest(1000, mthreads.KEY, 0, 0, 0)),
        ("MT-E13", {COUNT: 2, CORES: 5}, ask(2, 0, 2)),
        ("MT-E13", {COUNT: 2, CORES: -5}, ask(2, 0, -2)),
        ("MT-21", {COUNT: 2, CORES: "1500m"}, ask(2)),
    ],
)
def test_totals_are_divided_among_the_cards(case: str, limits: dict[str, object], asked: CardRequest) -> None:
    """MT-20 to MT-22: towards zero."""
    assert MTHREADS.request(make_container(limits=limits)) == asked, case


@pytest.mark.parametrize(
    "limits",
    [{COUNT: text} for text in ("0", "-1", "1500m", "500m", "2147483648")]
    + [{COUNT: 1, MEM: text} for text in ("4194304", "-1", "16Gi", "16.0Gi", "")]
    + [{COUNT: 43691, MEM: 43691 * 96}, {MEM: 4, CORES: 1}, {COUNT: 2, CORES: 4294967301}],
)
def test_unreadable_amounts_ask_for_nothing(limits: dict[str, object]) -> None:
    """MT-E08 to MT-E11; MT-E13 for cores that the reference would wrap to 5."""
    assert MTHREADS.request(make_container(limits=limits)) is None


def test_quota_counts_memory_in_units() -> None:
    """MT-2."""
    assert MTHREADS.names == ResourceNames(COUNT, MEM, CORES, 512)


# Nodes


@pytest.mark.parametrize(
    ("case", "capacity", "number", "mem_mib"),
    [
        ("MT-E14", {MEM: "768", CORES: "128"}, 8, 49152),
        ("MT-E15", {MEM: "96", CORES: "17"}, 2, 46260),
        ("MT-E15", {MEM: "100", CORES: "33"}, 3, 24824),
        ("MT-E15", {MEM: "1", CORES: "1"}, 1, 8192),
        ("MT-E15", {MEM: "96500m", CORES: "16"}, 1, 0),
        ("MT-3", {CORES: "16"}, 1, 0),
    ],
)
def test_capacity_is_cut_into_cards(case: str, capacity: dict[str, str], number: int, mem_mib: int) -> None:
    """MT-3."""
    cards = MTHREADS.node_cards(make_node("n1", capacity=capacity))
    assert [one.id for one in cards] == [f"n1-mthreads-{n}" for n in range(number)], case
    assert {(one.index, one.mem_mib, one.cores, one.shares, one.type) for one in cards} == {
        (n, mem_mib, 16, 100, "Mthreads") for n in range(number)
    }


@pytest.mark.parametrize("capacity", [{}, {CORES: "0"}, {CORES: "16500m"}])
def test_a_node_without_cores_says_so(capacity: dict[str, str]) -> None:
    """MT-E16."""
    with pytest.raises(CodecError, match=f"^device not found {CORES}$"):
        MTHREADS.node_cards(make_node(capacity=capacity))


def test_negative_cores_are_no_cards() -> None:
    """MT-E16."""
    assert MTHREADS.node_cards(make_node(capacity={CORES: "-5"})) == ()


@pytest.mark.parametrize("capacity", [{CORES: "1", MEM: "9000000"}, {CORES: "1G", MEM: "1"}])
def test_amounts_that_no_card_has_are_refused(capacity: dict[str, str]) -> None:
    """The reference wraps the memory, and would list sixty million cards."""
    with pytest.raises(CodecError, match=r"^capacity mthreads\.com/sgpu-"):
        MTHREADS.node_cards(make_node(capacity=capacity))


def test_a_node_is_always_healthy_and_never_locked_or_cleaned() -> None:
    """MT-4."""
    health = MTHREADS.health(make_node(), now=datetime(2026, 1, 2))  # noqa: DTZ001  (stamps carry no zone)
    assert (health.healthy, health.needs_update, health.stamp) == (True, True, False)
    assert MTHREADS.node_lock is None
    assert MTHREADS.cleanup_keys == ()


# Fit


@pytest.mark.parametrize(
    ("case", "given", "request_", "taken"),
    [
        ("MT-E17", [card("a"), card("b")], ask(1, 1024, 4), "b"),
        ("MT-E17", [card("a"), card("b")], ask(2, 49152, 16), "b a"),
        ("MT-E18", [card(used=(1, 0, 0))], ask(1, 1, 16), "a"),
        ("MT-E19", [card(type="MTT-Mthreads-S4000")], ask(), "a"),
    ],
)
def test_cards_are_taken_from_the_last(
    case: str, given: list[CardUsage], request_: CardRequest, taken: str
) -> None:
    assert fit(given, request_) == (taken, ""), case


@pytest.mark.parametrize(
    ("case", "given", "request_", "reason"),
    [
        ("MT-E17", [card("a"), card("b")], ask(3), "2/2 AllocatedCardsInsufficientRequest"),
        ("MT-E18", [card(used=(1, 0, 13))], ask(1, 1, 4), "1/1 CardInsufficientCore"),
        ("MT-E18", [card(used=(1, 0, 16))], ask(1, 1, 0), "1/1 CardComputeUnitsExhausted"),
        ("MT-E18", [card()], ask(1, 1, 120), "1/1 CardInsufficientCore"),
        ("MT-E19", [card(type="mthreads")], ask(), "1/1 CardTypeMismatch"),
        ("MT-E27", [card(mem_mib=32768)], ask(1, 49152, 16), "1/1 CardInsufficientMemory"),
    ],
)
def test_a_card_is_refused_for_a_reason(
    case: str, given: list[CardUsage], request_: CardRequest, reason: str
) -> None:
    assert fit(given, request_) == ("", reason), case


def test_ids_are_chosen_under_the_ai_domain() -> None:
    """MT-E20."""
    given = [card("a"), card("b")]
    assert fit(given, ask(), annotations={"mthreads.ai/use-gpuuuid": "a"})[0] == "a"
    assert fit(given, ask(), annotations={"mthreads.com/use-gpuuuid": "a"})[0] == "b"


def test_containers_of_a_pod_share_one_card() -> None:
    """S16, MT-31, MT-E21, MT-E26: after two cards no later container gets any."""
    given = [card("a"), card("b")]
    assert fit(given, ask(), before=["a"]) == ("a", "")
    expected = "1/2 AllocatedCardsInsufficientRequest, 1/2 CardNotFoundCustomFilterRule"
    assert fit(given, ask(2), before=["a"]) == ("", expected)
    assert fit(given, ask(), before=["a", "b"]) == ("", "2/2 CardNotFoundCustomFilterRule")


@pytest.mark.parametrize(("is_sidecar", "taken"), [(False, "b"), (True, "a")])
def test_containers_that_end_first_do_not_bind_the_others(is_sidecar: bool, taken: str) -> None:
    """MT-31; a sidecar runs beside the app containers and so does bind them (Q-23)."""
    first = Container("first", restarts_always=is_sidecar)
    pod = make_pod(init_containers=(first,), containers=(Container("app"),))
    held = {mthreads.KEY: ((Allocation(CardId("a"), "Mthreads", 1, 1),),)}
    context = make_context(pod=pod, position=1, given=held)
    result = MTHREADS.fit(context, [card("a"), card("b")], ask())
    assert [allocation.card for allocation in result.allocations] == [taken]


# Annotations


def held(*indices: int) -> tuple[Allocation, ...]:
    return tuple(Allocation(CardId("a"), "Mthreads", 1, 2, index=index) for index in indices)


def test_the_node_is_told_the_cards_numbers() -> None:
    """MT-41, MT-E22: the to-allocate key is not written."""
    pod = make_pod(annotations={"hami.io/vgpu-node": "n1"})
    written = MTHREADS.annotations(pod, (held(3),), now_ns=1767355445000000000)
    assert written == {
        "hami.io/mthreads-vgpu-devices-allocated": "a,Mthreads,1,2:;",
        "mthreads.com/gpu-index": "3",
        "mthreads.com/predicate-node": "n1",
        "mthreads.com/predicate-time": "1767355445000000000",
    }
    assert set(MTHREADS.written_keys) == set(written)


def test_only_the_last_containers_numbers_survive() -> None:
    """MT-42, MT-E23."""
    written = MTHREADS.annotations(make_pod(), (held(3, 4), (), held(7)), now_ns=1)
    assert written["mthreads.com/gpu-index"] == "7"
    assert (
        written["hami.io/mthreads-vgpu-devices-allocated"]
        == "a,Mthreads,1,2:a,Mthreads,1,2:;;a,Mthreads,1,2:;"
    )


USED = st.tuples(st.integers(0, 3), st.integers(0, 49152), st.integers(0, 16))


@given(
    used=st.lists(USED, max_size=5),
    number=st.integers(1, 3),
    mem_mib=st.integers(0, 60000),
    cores=st.integers(0, 120),
    before=st.lists(st.sampled_from("01234"), max_size=2),
)
def test_no_card_is_ever_oversold(
    used: list[tuple[int, int, int]], number: int, mem_mib: int, cores: int, before: list[str]
) -> None:
    """MT-30, MT-40: shares, memory and cores all hold after the allocation is added."""
    given = [card(str(n), shares=3, used=use) for n, use in enumerate(used)]
    copy = list(given)
    ids, reason = fit(given, ask(number, mem_mib, cores), before=before)
    assert given == copy
    taken = ids.split()
    assert len(taken) == (number if given and not reason else 0)
    for one in given:
        if one.id in taken:
            assert set(before) <= {one.id}
            assert one.shares_used < 3
            assert one.mem_free_mib >= mem_mib
            assert one.cores_free >= min(cores, 100)
