"""AMD: percent asked, compute units given. Rules AMD-1 to AMD-43, cases AMD-E01 to AMD-E24."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.errors import AdmissionError, CodecError
from scheduler_app.core.types import CardRequest, CardUsage
from scheduler_app.devices import amd
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

COUNT, MEM, CORES = "amd.com/gpu", "amd.com/gpumem", "amd.com/gpucores"
REGISTER = "hami.io/node-amd-register"
(AMD,) = amd.build(amd.Config(COUNT, MEM, CORES))
(COUNT_ONLY,) = amd.build(amd.Config(COUNT))
NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)


def card(id: str = "a", **values: object) -> CardUsage:
    return make_card(id=id, vendor="AMD", **{"mem_mib": 1000, "cores": 100, **values})  # type: ignore[arg-type]  # test data


def ask(number: int = 1, mem_mib: int = 0, cores: int = 100) -> CardRequest:
    return CardRequest(number, amd.KEY, mem_mib, 0, cores)


def fit(
    given: Sequence[CardUsage],
    request: CardRequest,
    *,
    policy: str = "spread",
    annotations: Mapping[str, str] | None = None,
) -> tuple[list[tuple[str, int, int]], str]:
    """Return id, MiB and units of each card taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}), policy=policy)
    result = AMD.fit(context, given, request)
    return [(taken.card, taken.mem_mib, taken.cores) for taken in result.allocations], result.reason


def mutate(**resources: dict[str, object]) -> tuple[bool, list[str]]:
    draft = make_draft(**resources)
    found = AMD.mutate(draft, draft.pod)
    assert draft.pod.operations == []
    return found, draft.pod.warnings


# Admission


@pytest.mark.parametrize(
    ("case", "resources", "found"),
    [
        ("AMD-E01", {"limits": {COUNT: 1}}, True),
        ("AMD-E02", {"requests": {COUNT: 1}}, False),
        ("AMD-E03", {"limits": {MEM: 5}}, True),
        ("AMD-E03", {"limits": {CORES: 500}}, True),
        ("AMD-E05", {"limits": {COUNT: 1}, "requests": {CORES: 500}}, True),
    ],
)
def test_a_name_in_the_limits_makes_it_ours(
    case: str, resources: dict[str, dict[str, object]], found: bool
) -> None:
    """AMD-11: nothing is changed."""
    assert mutate(**resources)[0] is found, case


@pytest.mark.parametrize("text", ["0", "101", "-1", "50500m", "50.0", "1k"])
def test_cores_beside_a_count_are_a_percentage(text: str) -> None:
    """AMD-10, AMD-E04."""
    with pytest.raises(AdmissionError, match=f"^{CORES} must be an integer percentage between 1 and 100$"):
        mutate(limits={COUNT: 1, CORES: text})


def test_without_configured_names_there_is_nothing_to_check() -> None:
    """AMD-E09."""
    draft = make_draft(limits={COUNT: 1, CORES: 500})
    assert COUNT_ONLY.mutate(draft, draft.pod) is True
    assert COUNT_ONLY.request(make_container(limits={COUNT: 1, CORES: 500})) == ask()
    draft = make_draft(limits={MEM: 5})
    assert COUNT_ONLY.mutate(draft, draft.pod) is False


@pytest.mark.parametrize(
    ("limits", "about"),
    [
        ({MEM: 5}, "no cards without amd.com/gpu"),
        ({COUNT: "1500m"}, "amd.com/gpu is 1500m"),
        ({COUNT: 2**31}, "amd.com/gpu is 2147483648"),
        ({COUNT: 1, MEM: "-1"}, "amd.com/gpumem is -1"),
    ],
)
def test_a_container_that_will_get_no_cards_is_told(limits: dict[str, object], about: str) -> None:
    """AMD-12: the pod would run without cards, and nobody would know why."""
    (warning,) = mutate(limits=limits)[1]
    assert warning.startswith("container main: ")
    assert about in warning


# Requests


@pytest.mark.parametrize(
    ("case", "resources", "asked"),
    [
        ("AMD-E01", {"limits": {COUNT: 1}}, ask()),
        ("AMD-E02", {"requests": {COUNT: 1}}, None),
        ("AMD-E03", {"limits": {MEM: 5}}, None),
        ("AMD-E05", {"limits": {COUNT: 1}, "requests": {CORES: 500}}, ask()),
        ("AMD-E07", {"limits": {COUNT: 1, MEM: "1Gi"}}, ask(mem_mib=1073741824)),
        ("AMD-E07", {"limits": {COUNT: 1, MEM: 0}}, ask()),
        (
            "AMD-E08",
            {"limits": {COUNT: 2, MEM: 4096, CORES: 33}, "requests": {COUNT: 99, MEM: 99, CORES: 99}},
            ask(2, 4096, 33),
        ),
    ],
)
def test_only_limits_are_read(
    case: str, resources: dict[str, dict[str, object]], asked: CardRequest | None
) -> None:
    """AMD-20 to AMD-23."""
    assert AMD.request(make_container(**resources)) == asked, case


@pytest.mark.parametrize(
    ("name", "text"),
    [(COUNT, text) for text in ("0", "-1", "1500m", "2000m", "2147483648")]
    + [(MEM, text) for text in ("-1", "1500m", "16Gi", "2147483648")]
    + [(CORES, text) for text in ("0", "101", "50.0")],
)
def test_one_unreadable_amount_and_nothing_is_asked(name: str, text: str) -> None:
    """AMD-E06, AMD-E07."""
    assert AMD.request(make_container(limits={COUNT: 1, name: text})) is None


def test_memory_and_cores_are_quota_names_in_plain_units() -> None:
    """AMD-6."""
    assert AMD.names == ResourceNames(COUNT, MEM, CORES, 0)


# Nodes


def test_a_node_without_registration_says_so() -> None:
    """AMD-E10."""
    with pytest.raises(CodecError, match=f"^annos not found {REGISTER}$"):
        AMD.node_cards(make_node())
    with pytest.raises(CodecError, match=r"^no gpu found on node$"):
        AMD.node_cards(make_node(annotations={REGISTER: "[]"}))


def test_cards_are_as_registered() -> None:
    """AMD-3: cores are compute units."""
    text = '[{"id":"a","count":2,"devmem":5,"devcore":304,"type":"AMD_Instinct_MI300X","health":true}]'
    (only,) = AMD.node_cards(make_node(annotations={REGISTER: text}))
    assert (only.vendor, only.cores, only.type) == ("AMD", 304, "AMD_Instinct_MI300X")


@pytest.mark.parametrize(
    ("capacity", "healthy"),
    [
        ({}, False),
        ({COUNT: "0"}, False),
        ({COUNT: "1500m"}, False),
        ({COUNT: "1.0"}, False),
        ({COUNT: "1"}, True),
        ({COUNT: "-1"}, True),
    ],
)
def test_health_is_capacity(capacity: dict[str, str], healthy: bool) -> None:
    """AMD-4, AMD-E11: no handshake, and healthy cards are read at each pass."""
    health = AMD.health(make_node(capacity=capacity), now=NOON)
    assert (health.healthy, health.needs_update, health.stamp) == (healthy, healthy, False)


def test_health_without_a_name_is_always_good() -> None:
    """AMD-E11."""
    (unnamed,) = amd.build(amd.Config())
    assert unnamed.health(make_node(), now=NOON).healthy


def test_cleaning_up_removes_the_registration() -> None:
    """AMD-5."""
    assert AMD.cleanup_keys == (REGISTER,)


# Fit


@pytest.mark.parametrize(
    ("case", "given", "request_", "taken"),
    [
        ("AMD-E12", [card("a"), card("b")], ask(2, cores=0), [("b", 1000, 100), ("a", 1000, 100)]),
        ("AMD-E13", [card()], ask(cores=50), [("a", 1000, 50)]),
        ("AMD-E14", [card(cores=304)], ask(mem_mib=500, cores=50), [("a", 500, 152)]),
        ("AMD-E14", [card(cores=304)], ask(mem_mib=100, cores=33), [("a", 100, 100)]),
        ("AMD-E14", [card(cores=64)], ask(cores=1), [("a", 1000, 1)]),
        ("AMD-E14", [card(cores=64)], ask(cores=101), [("a", 1000, 64)]),
        ("AMD-E15", [card(cores=304, used=(1, 0, 0))], ask(), [("a", 1000, 304)]),
        ("AMD-E16", [card()], ask(mem_mib=500, cores=0), [("a", 500, 0)]),
        ("AMD-E16", [card()], ask(mem_mib=1000, cores=0), [("a", 1000, 100)]),
        ("AMD-E16", [card(mem_mib=0)], ask(cores=0), [("a", 0, 0)]),
        ("AMD-E17", [card()], ask(mem_mib=-5), [("a", 1000, 100)]),
    ],
)
def test_percent_become_units_of_the_card(
    case: str, given: list[CardUsage], request_: CardRequest, taken: list[tuple[str, int, int]]
) -> None:
    """AMD-31 to AMD-34."""
    assert fit(given, request_) == (taken, ""), case


def test_units_beyond_32_bits_do_not_wrap() -> None:
    """AMD-E22: the reference gets a negative product and gives one unit."""
    assert fit([card(cores=50_000_000)], ask(cores=50)) == ([("a", 1000, 25_000_000)], "")


@pytest.mark.parametrize(
    ("case", "given", "request_", "reason"),
    [
        ("AMD-E15", [card(cores=304, used=(0, 0, 1))], ask(), "1/1 CardInsufficientCore"),
        ("AMD-E16", [card(cores=0)], ask(mem_mib=100, cores=50), "1/1 CardInsufficientCore"),
        ("AMD-E17", [card(used=(0, 1, 0))], ask(), "1/1 CardInsufficientMemory"),
        ("AMD-E18", [card(used=(1, 950, 100))], ask(mem_mib=100, cores=50), "1/1 CardInsufficientMemory"),
        (
            "AMD-E21",
            [card(shares=0), card(healthy=False)],
            ask(),
            "1/2 CardNotHealth, 1/2 CardTimeSlicingExhausted",
        ),
        ("AMD-E21", [card("a"), card("b")], ask(3), "2/2 AllocatedCardsInsufficientRequest"),
    ],
)
def test_a_card_is_refused_for_a_reason(
    case: str, given: list[CardUsage], request_: CardRequest, reason: str
) -> None:
    assert fit(given, request_) == ([], reason), case


def test_a_pod_may_want_no_neighbours() -> None:
    """AMD-E21."""
    busy = card(used=(1, 0, 0))
    assert fit([busy], ask(), policy="mutex") == ([], "1/1 ExclusiveDeviceAllocateConflict")


@pytest.mark.parametrize(
    ("key", "value", "taken"),
    [
        ("amd.com/use-gputype", "mi250", ["MI250"]),
        ("amd.com/nouse-gputype", "MI300, ", ["MI250"]),
        ("amd.com/use-gputype", ", ", []),
        ("amd.com/use-gputype", " ", ["MI300X"]),
        ("amd.com/use-gpu-uuid", "MI250", ["MI250"]),
        ("amd.com/nouse-gpu-uuid", "MI300X", ["MI250"]),
        ("amd.com/use-gpuuuid", "MI250", ["MI300X"]),
    ],
)
def test_models_and_ids_can_be_chosen(key: str, value: str, taken: list[str]) -> None:
    """AMD-2, AMD-30, AMD-E20; the id keys have a hyphen more than other vendors'."""
    given = [card("MI250", type="AMD_Instinct_MI250"), card("MI300X", type="AMD_Instinct_MI300X")]
    assert [id for id, _, _ in fit(given, ask(), annotations={key: value})[0]] == taken


def test_the_annotation_names_the_model() -> None:
    """AMD-34, AMD-E23; the empty container keeps its place (Q-1)."""
    given = [card("GPU-0", type="AMD_Instinct_MI300X", cores=304)]
    taken = AMD.fit(make_context(), given, ask(mem_mib=500, cores=50)).allocations
    text = ";GPU-0,AMD_Instinct_MI300X,500,152:;"
    assert AMD.annotations(make_pod(), ((), taken), now_ns=1) == {
        "hami.io/amd-devices-to-allocate": text,
        "hami.io/amd-devices-allocated": text,
    }


USED = st.tuples(st.integers(0, 4), st.integers(0, 1000), st.integers(0, 304))


@given(
    used=st.lists(USED, max_size=5),
    number=st.integers(1, 3),
    mem_mib=st.integers(0, 1200),
    percent=st.integers(1, 100),
)
def test_no_card_is_ever_oversold(
    used: list[tuple[int, int, int]], number: int, mem_mib: int, percent: int
) -> None:
    """AMD-32, AMD-40: shares, memory and units all hold after the allocation is added."""
    given = {str(n): card(str(n), shares=3, cores=304, used=use) for n, use in enumerate(used)}
    before = dict(given)
    result = AMD.fit(make_context(), list(given.values()), ask(number, mem_mib, percent))
    assert given == before
    assert len(result.allocations) == (number if result.is_fit else 0)
    for allocation in result.allocations:
        after, _ = AMD.add_usage(given.pop(allocation.card), allocation, make_pod())
        assert after.shares_used <= 3
        assert after.mem_free_mib >= 0
        assert after.cores_free >= 0
