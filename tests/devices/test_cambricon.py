"""Cambricon MLU: requests, capacity, quota in fit, profile."""

from typing import Any

import pytest

from scheduler_app.core.errors import AdmissionError, CodecError
from scheduler_app.core.fit import FitContext, FitResult
from scheduler_app.core.quota import NamespaceQuota, QuotaEntry
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, Container, VendorKey
from scheduler_app.devices.cambricon import VENDOR, Config, MluBackend
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

KEY = VendorKey("MLU")
NUM, MEM, CORES = "cambricon.com/vmlu", "cambricon.com/mlu.smlu.vmemory", "cambricon.com/mlu.smlu.vcore"


def make_mlu() -> MluBackend:
    return MluBackend(Config(NUM, MEM, CORES))


def request(**groups: dict[str, Any]) -> CardRequest | None:
    return make_mlu().request(make_container(**groups))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({"limits": {NUM: 1}}, CardRequest(1, KEY, 0, 100, 100)),
        ({"limits": {NUM: 2, MEM: 10, CORES: 20}}, CardRequest(2, KEY, 2560, 0, 20)),
        ({"limits": {NUM: 1, MEM: 1000, CORES: 2}}, CardRequest(1, KEY, 256000, 0, 2)),
        ({"requests": {NUM: 1, MEM: 10, CORES: 20}}, CardRequest(1, KEY, 2560, 0, 20)),
        ({"limits": {NUM: 1, MEM: 0, CORES: 0}}, CardRequest(1, KEY, 0, 100, 0)),
        ({"limits": {NUM: 1, MEM: 8388607}}, CardRequest(1, KEY, 2147483392, 0, 100)),
        ({"limits": {NUM: 1, MEM: "1Ki"}}, CardRequest(1, KEY, 262144, 0, 100)),
        ({"limits": {NUM: 1, CORES: "10500m"}}, CardRequest(1, KEY, 0, 100, 100)),
        ({"limits": {NUM: 1, CORES: -5}}, CardRequest(1, KEY, 0, 100, -5)),
        ({"limits": {NUM: 1, CORES: 250}}, CardRequest(1, KEY, 0, 100, 250)),
        ({"limits": {NUM: -1}}, CardRequest(-1, KEY, 0, 100, 100)),
    ],
)
def test_amounts_are_read_as_written(groups: dict[str, Any], expected: CardRequest) -> None:
    """MLU-21 to MLU-24, MLU-E01 to MLU-E05, MLU-E07 to MLU-E09."""
    assert request(**groups) == expected


@pytest.mark.parametrize(
    "limits",
    [
        *({NUM: 1, MEM: memory} for memory in (-1, "1500m", 8388608, "16Gi", "16.0Gi")),
        {NUM: "1500m"},
        {MEM: 10},
    ],
)
def test_what_cannot_be_read_asks_nothing(limits: dict[str, Any]) -> None:
    """MLU-21, MLU-22, MLU-E06, MLU-E09, MLU-E10."""
    assert request(limits=limits) is None


@pytest.mark.parametrize("limits", [{NUM: 4294967297}, {NUM: 1, CORES: 4294967396}])
def test_what_the_reference_would_wrap_is_refused_at_both_places(limits: dict[str, Any]) -> None:
    """MLU-E08 and MLU-E09 as architecture, section 7 decides: 4294967297 is not 1."""
    container = make_draft("train", limits=limits)
    with pytest.raises(AdmissionError, match="container train: must be a whole number between"):
        make_mlu().mutate(container, container.pod)
    assert request(limits=limits) is None


def test_admission_changes_nothing() -> None:
    """MLU-20, MLU-E04: fractions only earn a warning, and a count in requests only is not ours."""
    container = make_draft(limits={NUM: 1, MEM: "1500m"})
    assert make_mlu().mutate(container, container.pod)
    assert container.pod.operations == []
    assert container.pod.warnings == [
        f"container main: {MEM} is 1500m, must be a whole number between 0 and 8388607"
    ]
    other = make_draft(requests={NUM: 1})
    assert not make_mlu().mutate(other, other.pod)


def capacity(**amounts: Any) -> tuple[list[str], list[int]]:
    """Return ids and MiB of the cards of ``node-a`` with such a capacity."""
    names = {"cores": CORES, "mem": MEM}
    node = make_node("node-a", capacity={names[key]: str(value) for key, value in amounts.items()})
    cards = make_mlu().node_cards(node)
    assert all((card.shares, card.cores, card.type, card.vendor) == (100, 100, KEY, KEY) for card in cards)
    assert [card.index for card in cards] == list(range(len(cards)))
    return [card.id for card in cards], [card.mem_mib for card in cards]


@pytest.mark.parametrize(
    ("amounts", "mem_mib"),
    [
        ({"cores": 200, "mem": 192}, [24576, 24576]),
        ({"cores": 250, "mem": 192}, [19660] * 3),
        ({"cores": 150, "mem": 100}, [17066] * 2),
        ({"cores": 300, "mem": 100}, [8533] * 3),
        ({"cores": 1, "mem": 1}, [25600]),
        ({"cores": 200}, [0, 0]),
        ({"cores": -100, "mem": 5}, []),
    ],
)
def test_cards_are_known_from_capacity(amounts: dict[str, Any], mem_mib: list[int]) -> None:
    """MLU-10 to MLU-12, MLU-E11 to MLU-E14, MLU-E16."""
    ids, found = capacity(**amounts)
    assert found == mem_mib
    assert ids == [f"node-a-cambricon-mlu-{n}" for n in range(len(mem_mib))]


@pytest.mark.parametrize("amounts", [{}, {"cores": 0}, {"cores": "1500m"}])
def test_a_node_without_cores_has_no_cards(amounts: dict[str, Any]) -> None:
    """MLU-10, MLU-E15."""
    with pytest.raises(CodecError, match=f"device not found {CORES}"):
        capacity(**amounts)


@pytest.mark.parametrize(
    ("amounts", "field"), [({"cores": 100, "mem": 10000000}, MEM), ({"cores": 10**12}, CORES)]
)
def test_a_capacity_beyond_reason_is_an_error(amounts: dict[str, Any], field: str) -> None:
    """MLU-E16 as architecture, section 6 decides: never a negative memory."""
    with pytest.raises(CodecError, match=f"capacity {field}: "):
        capacity(**amounts)


def test_cards_are_always_fresh() -> None:
    """MLU-13: no handshake, nothing to clean up."""
    (backend,) = VENDOR.build(Config(NUM, MEM, CORES))
    health = backend.health(make_node(), now=None)  # type: ignore[arg-type]  # without handshake nobody asks the time
    assert (health.healthy, health.needs_update, health.stamp) == (True, True, False)
    assert backend.cleanup_keys == ()


def test_there_is_one_backend_without_any_section_or_flag() -> None:
    """MLU-1: key, request type and the cards' vendor and model are one word."""
    (backend,) = VENDOR.build(VENDOR.config())
    assert (backend.vendor_key, VENDOR.enabling_flag) == ("MLU", "")
    named = make_mlu()
    asked = named.request(make_container(limits={NUM: 1}))
    (card,) = named.node_cards(make_node(capacity={CORES: "100", MEM: "1"}))
    assert asked is not None
    assert (asked.type, card.vendor, card.type) == ("MLU", "MLU", "MLU")


def test_the_lock_is_the_vendors_own() -> None:
    """MLU-30: a time without an owner, for two minutes."""
    lock = make_mlu().node_lock
    assert lock is not None
    assert (lock.annotation, lock.has_owner, lock.timeout_seconds) == ("cambricon.com/dsmlu.lock", False, 120)


def quota(*, mem: int | None = None, cores: int | None = None) -> NamespaceQuota:
    return NamespaceQuota({MEM: QuotaEntry(0, mem), CORES: QuotaEntry(0, cores)})


def fit(context: FitContext, cards: list[CardUsage], **asked: int) -> FitResult:
    count = asked.pop("count", 1)
    return make_mlu().fit(context, cards, CardRequest(count, KEY, **asked))


def cards(count: int = 1, **card: Any) -> list[CardUsage]:
    return [make_card(**{"id": f"d{n}", "vendor": "MLU", "mem_mib": 40960, **card}) for n in range(count)]


@pytest.mark.parametrize(
    ("limit", "asked", "fits"),
    [
        (50, {"mem_mib": 0, "mem_percent": 100, "cores": 10}, False),
        (50, {"mem_mib": 12800}, True),
        (50, {"mem_mib": 12801}, False),
        (0, {"mem_mib": 256}, False),
        (0, {"mem_mib": 0, "mem_percent": 101}, True),
    ],
)
def test_a_card_must_fit_the_quota(limit: int, asked: dict[str, int], fits: bool) -> None:
    """MLU-40, MLU-E21, MLU-E22, MLU-E26: limits count 256 MiB a unit, whole cards with what they have."""
    result = fit(make_context(quota=quota(mem=limit)), cards(), **asked)
    assert (result.is_fit, result.reason) == (fits, "" if fits else "1/1 ResourceQuotaNotFit")


def test_all_cards_of_a_container_must_fit_the_quota_together() -> None:
    """MLU-40, MLU-E23."""
    context = make_context(quota=quota(mem=50, cores=120))
    result = fit(context, cards(2), count=2, mem_mib=6400, cores=60)
    assert [found.card for found in result.allocations] == ["d1", "d0"]
    refused = fit(context, cards(2), count=2, mem_mib=6400, cores=61)
    assert refused.reason == "1/2 AllocatedCardsInsufficientRequest, 1/2 ResourceQuotaNotFit"


@pytest.mark.parametrize("init_containers", [0, 1])
def test_earlier_containers_count_at_their_true_position(init_containers: int) -> None:
    """MLU-40, MLU-E24; MLU-E25 as Q-5 decides: an init container before them changes nothing."""
    inits = tuple(Container(f"init-{n}") for n in range(init_containers))
    pod = make_pod(containers=(Container("a"), Container("b")), init_containers=inits)
    earlier = ((),) * init_containers + ((Allocation(CardId("d0"), "MLU", 6400, 0),),)
    context = make_context(pod=pod, quota=quota(mem=50), given={KEY: earlier}, position=init_containers + 1)
    assert fit(context, cards(), mem_mib=6656).reason == "1/1 ResourceQuotaNotFit"
    assert fit(context, cards(), mem_mib=6400).is_fit


def test_an_init_container_and_a_later_one_take_turns() -> None:
    """MLU-40: the larger of the two counts."""
    pod = make_pod(containers=(Container("a"),), init_containers=(Container("i"),))
    earlier = ((Allocation(CardId("d0"), "MLU", 12800, 0),),)
    context = make_context(pod=pod, quota=quota(mem=50), given={KEY: earlier}, position=1)
    assert fit(context, cards(), mem_mib=12800).is_fit


def test_the_quota_is_named_before_the_card() -> None:
    """MLU-40, MLU-E27."""
    result = fit(make_context(quota=quota(mem=50)), cards(mem_mib=1000), mem_mib=12801)
    assert result.reason == "1/1 ResourceQuotaNotFit"


def test_type_lists_are_not_read_and_uuid_lists_are() -> None:
    """MLU-39, MLU-E28, VB-16."""
    types = {"cambricon.com/use-mlutype": "other", "cambricon.com/nouse-mlutype": "MLU"}
    assert fit(make_context(pod=make_pod(annotations=types)), cards(), mem_mib=256).is_fit
    wanted = make_pod(annotations={"cambricon.com/use-gpuuuid": "d0"})
    result = fit(make_context(pod=wanted), cards(2), mem_mib=256)
    assert [found.card for found in result.allocations] == ["d0"]


def given(card: str, mem_mib: int, cores: int, *, index: int) -> Allocation:
    return Allocation(CardId(card), "MLU", mem_mib, cores, index=index)


@pytest.mark.parametrize(
    ("containers", "text", "profile"),
    [
        (((given("n-cambricon-mlu-3", 2560, 20, index=3),),), "n-cambricon-mlu-3,MLU,2560,20:;", "3_20_10"),
        (
            ((given("c", 256, 1, index=3), given("a", 512, 2, index=1)),),
            "c,MLU,256,1:a,MLU,512,2:;",
            "3_1_1",
        ),
        (
            ((given("c", 256, 1, index=3),), (given("a", 512, 2, index=1),)),
            "c,MLU,256,1:;a,MLU,512,2:;",
            "3_1_1",
        ),
        (((), (given("d", 256000, 1, index=0),)), ";d,MLU,256000,1:;", "0_1_1000"),
    ],
)
def test_the_profile_describes_the_first_card(
    containers: tuple[tuple[Allocation, ...], ...], text: str, profile: str
) -> None:
    """MLU-51, MLU-E17 to MLU-E19."""
    written = make_mlu().annotations(make_pod(), containers, now_ns=0)
    assert written == {
        "CAMBRICON_DSMLU_ASSIGNED": "false",
        "CAMBRICON_DSMLU_PROFILE": profile,
        "hami.io/cambricon-mlu-devices-to-allocate": text,
        "hami.io/cambricon-mlu-devices-allocated": text,
    }
    assert set(written) == set(make_mlu().written_keys)


def test_without_a_card_there_is_no_profile() -> None:
    """MLU-51, MLU-E20."""
    written = make_mlu().annotations(make_pod(), ((), ()), now_ns=0)
    assert "CAMBRICON_DSMLU_PROFILE" not in written
    assert written["hami.io/cambricon-mlu-devices-allocated"] == ";;"
