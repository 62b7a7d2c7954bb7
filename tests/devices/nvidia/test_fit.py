"""Which shared cards a container gets, or why none (NV-40 to NV-48)."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.types import CardUsage, VendorKey
from tests.devices.nvidia.cards import GPU, NVIDIA, ask, card, fit
from tests.devices.placing import OneNode
from tests.factories import make_card, make_container, make_context, make_node, make_pod

NUMA_BIND = {"nvidia.com/numa-bind": "true"}
REGISTERED = json.dumps(
    [
        {"id": model, "count": 1, "devmem": 1000, "devcore": 100, "type": f"NVIDIA-{model}", "health": True}
        for model in ("A100", "V100")
    ]
)


def cards(**numas: int) -> list[CardUsage]:
    return [card(id, numa=numa) for id, numa in numas.items()]


def test_the_last_card_is_tried_first() -> None:
    """NV-E40."""
    context = make_context()
    (taken,) = NVIDIA.fit(context, [card("a"), card("b")], ask(1, 100, 101, 50)).allocations
    assert (taken.card, taken.type, taken.mem_mib, taken.cores) == ("b", "NVIDIA", 100, 50)


# NUMA groups


def test_cards_of_one_numa_node_are_taken_together() -> None:
    """NV-E41."""
    assert fit(cards(d0=1, d1=1, d2=0), ask(2), annotations=NUMA_BIND) == (["d1", "d0"], "")


def test_an_unusable_card_of_another_numa_node_ends_a_group() -> None:
    """NV-E42: if it is passed over only after the group began; an unhealthy one is passed over before."""
    a, c = card("a", numa=0), card("c", numa=0)
    full = card("bad", numa=1, shares=0)
    assert fit([a, full, c], ask(2), annotations=NUMA_BIND) == (
        [],
        "1/3 AllocatedCardsInsufficientRequest, 1/3 CardTimeSlicingExhausted, 1/3 NumaNotFit",
    )
    sick = card("bad", numa=1, healthy=False)
    assert fit([a, sick, c], ask(2), annotations=NUMA_BIND) == (["c", "a"], "")


@pytest.mark.parametrize(
    ("numas", "number", "reason"),
    [
        ((0, 0, 1, 1), 3, "2/4 AllocatedCardsInsufficientRequest, 2/4 NumaNotFit"),
        ((0, 0, 0, 1), 4, "1/4 NumaNotFit, 3/4 AllocatedCardsInsufficientRequest"),
    ],
)
def test_groups_that_are_too_small_are_told(numas: tuple[int, ...], number: int, reason: str) -> None:
    """NV-E43, NV-E44."""
    found = [card(f"d{position}", numa=numa) for position, numa in enumerate(numas)]
    assert fit(found, ask(number), annotations=NUMA_BIND) == ([], reason)


@pytest.mark.parametrize("text", ["false", "yes", ""])
def test_only_a_true_word_binds(text: str) -> None:
    """NV-E45."""
    assert fit(cards(a=0, b=1), ask(2), annotations={"nvidia.com/numa-bind": text}) == (["b", "a"], "")


def test_unknown_numa_nodes_are_one_group() -> None:
    """NV-E46."""
    assert fit(cards(a=-1, b=-1), ask(2), annotations=NUMA_BIND) == (["b", "a"], "")


# Which cards a pod may have


@pytest.mark.parametrize(
    ("text", "fits"),
    [("", False), ("mig", False), ("HAMI-CORE", False), ("mig,hami-core", True), ("xhami-corex", True)],
)
def test_the_mode_must_be_part_of_the_annotation(text: str, fits: bool) -> None:
    """NV-E47, NV-41: and an empty annotation excludes every card that has a mode."""
    taken, reason = fit([card("a")], ask(), annotations={"nvidia.com/vgpu-mode": text})
    assert (taken, reason) == ((["a"], "") if fits else ([], "1/1 CardTypeMismatch"))


def test_a_card_without_mode_suits_every_mode() -> None:
    """NV-E48."""
    assert fit([card("a", mode="")], ask(), annotations={"nvidia.com/vgpu-mode": "zzz"}) == (["a"], "")


def test_cordoned_cards_are_left_alone() -> None:
    """NV-E49, NV-42."""
    both = [card("a"), card("b")]
    assert fit(both, ask(), cordon=" b , ") == (["a"], "")
    assert fit(both, ask(), cordon="a,b") == ([], "2/2 CardCordoned")
    assert fit([card("a", healthy=False)], ask(), cordon="a") == ([], "1/1 CardNotHealth")
    wanted = {"nvidia.com/use-gpuuuid": "a"}
    assert fit([card("a")], ask(), cordon="a", annotations=wanted) == ([], "1/1 CardCordoned")


def test_annotations_hold_for_every_container() -> None:
    """NV-6: they are the pod's; each of two containers gets what the list leaves."""
    one = OneNode(NVIDIA, node=make_node(annotations={NVIDIA.keys.register: REGISTERED}))
    asks = (make_container(limits={GPU: 1}), make_container(limits={GPU: 1}))
    listed = one.place(*asks, annotations={"nvidia.com/use-gputype": "V100"})
    assert listed.reason == "1/2 CardTimeSlicingExhausted, 1/2 CardTypeMismatch"
    assert one.place(*asks).devices is not None


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({"nvidia.com/use-gputype": "v100"}, (["v"], "")),
        ({"nvidia.com/use-gputype": " , "}, ([], "2/2 CardTypeMismatch")),
        ({"nvidia.com/nouse-gputype": "a100"}, (["v"], "")),
        ({"nvidia.com/use-gpuuuid": ","}, ([], "2/2 CardUuidMismatch")),
        ({"nvidia.com/use-gpuuuid": "v"}, (["v"], "")),
        ({"nvidia.com/nouse-gpuuuid": " a , x"}, (["v"], "")),
    ],
)
def test_use_and_no_use_lists_choose_cards(
    annotations: Mapping[str, str], expected: tuple[list[str], str]
) -> None:
    """NV-E56."""
    assert fit([card("v", type="NVIDIA-V100"), card("a")], ask(), annotations=annotations) == expected


def test_a_foreign_request_matches_no_card() -> None:
    """NV-41."""
    foreign = replace(ask(), type=VendorKey("AMD"))
    assert NVIDIA.fit(make_context(), [card("a")], foreign).reason == "1/1 CardTypeMismatch"


# Memory and cores


def test_more_than_all_cores_are_all_cores() -> None:
    """NV-E57, S9."""
    for target in (card("a"), card("a", cores=150, used=(1, 0, 0))):
        (taken,) = NVIDIA.fit(make_context(), [target], ask(1, 100, 101, 120)).allocations
        assert taken.cores == 100


@pytest.mark.parametrize(
    ("used", "cores", "reason"),
    [
        ((1, 0, 0), 100, "1/1 ExclusiveDeviceAllocateConflict"),
        ((1, 0, 100), 0, "1/1 CardComputeUnitsExhausted"),
        ((1, 0, 100), -5, ""),
        ((1, 0, 60), 41, "1/1 CardInsufficientCore"),
        ((10, 0, 0), 1, "1/1 CardTimeSlicingExhausted"),
        ((1, 950, 0), 1, "1/1 CardInsufficientMemory"),
    ],
)
def test_what_is_used_up_is_told(used: tuple[int, int, int], cores: int, reason: str) -> None:
    """NV-E58, NV-44."""
    assert fit([card("a", used=used)], ask(1, 100, 101, cores))[1] == reason


@pytest.mark.parametrize(
    ("total", "asked", "percent", "taken"),
    [
        (11264, 0, 33, 3717),
        (1000, 100, 50, 100),
        (1000, 0, 101, 0),
        (1000, -7, 101, 0),
        (30000000, 0, 100, 30000000),
    ],
)
def test_memory_is_resolved_on_each_card(total: int, asked: int, percent: int, taken: int) -> None:
    """NV-E59, S10: but large cards do not wrap around as they do in the reference."""
    (allocation,) = NVIDIA.fit(
        make_context(), [card("a", mem_mib=total)], ask(1, asked, percent, 0)
    ).allocations
    assert allocation.mem_mib == taken


def test_every_reason_is_counted_once_a_card() -> None:
    """NV-E60."""
    given_cards = [card("a", healthy=False), card("b", used=(1, 950, 0)), card("c"), card("d", shares=0)]
    assert fit(given_cards, ask(2)) == (
        [],
        "1/4 AllocatedCardsInsufficientRequest, 1/4 CardInsufficientMemory, 1/4 CardNotHealth, "
        "1/4 CardTimeSlicingExhausted",
    )


def test_p08_counts_and_total_are_of_cards() -> None:
    """VA-13: two too small, one of another type, one that fits; two are asked."""
    small = [card("a", mem_mib=50), card("b", mem_mib=60)]
    given_cards = [*small, card("c", type="NVIDIA-V100"), card("d")]
    assert fit(given_cards, ask(2), annotations={"nvidia.com/use-gputype": "A100"}) == (
        [],
        "1/4 AllocatedCardsInsufficientRequest, 1/4 CardTypeMismatch, 2/4 CardInsufficientMemory",
    )


def test_f37_a_card_is_not_repeated_to_make_up_the_number() -> None:
    """VA-11: two free shares of one card are not two cards."""
    given_cards = [card("GPU-0", used=(8, 0, 0)), card("GPU-1", used=(10, 0, 0))]
    assert fit(given_cards, ask(2)) == (
        [],
        "1/2 AllocatedCardsInsufficientRequest, 1/2 CardTimeSlicingExhausted",
    )


def test_mutex_wants_cards_nobody_uses() -> None:
    """S8."""
    assert fit([card("a"), card("b", used=(1, 0, 0))], ask(), policy="mutex") == (["a"], "")


@st.composite
def used_cards(draw: st.DrawFn) -> list[CardUsage]:
    shares, mem, cores = st.integers(0, 10), st.integers(0, 1000), st.integers(0, 100)
    used = st.tuples(shares, mem, cores)
    return [card(f"c{n}", used=draw(used), numa=n % 2) for n in range(draw(st.integers(1, 6)))]


@given(
    used_cards(),
    st.integers(1, 6),
    st.integers(0, 1200),
    st.integers(1, 101),
    st.integers(0, 120),
    st.sampled_from(["spread", "mutex", "topology-aware"]),
    st.booleans(),
)
def test_a_shared_card_is_never_overbooked(
    given_cards: list[CardUsage],
    number: int,
    mem: int,
    percent: int,
    cores: int,
    policy: str,
    binds: bool,
) -> None:
    """NV-44, S7 to S15: shares, memory and cores stay within the card; the given cards stay as they were."""
    before = list(given_cards)
    context = make_context(pod=make_pod(annotations=NUMA_BIND if binds else {}), policy=policy)
    result = NVIDIA.fit(context, given_cards, ask(number, mem, percent, cores))
    assert given_cards == before
    assert result.is_fit == (not result.reason)
    assert len(result.allocations) == (number if result.is_fit else 0)
    by_id = {usage.id: usage for usage in given_cards}
    for allocation in result.allocations:
        after, _ = NVIDIA.add_usage(by_id.pop(allocation.card), allocation, context.pod)
        assert after.shares_used <= after.card.shares
        assert after.mem_used_mib <= after.card.mem_mib
        assert after.cores_used <= after.card.cores


def test_a_card_of_no_vendor_fields_is_usable() -> None:
    """NV-7: every member is taken as registered."""
    assert fit([make_card(id="a", type="NVIDIA", mem_mib=100)], ask(1, 0, 100)) == (["a"], "")
