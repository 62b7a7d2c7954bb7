"""The algorithm that Ascend, MLU, DCU and Iluvatar share: one grid, run on all four."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.backend import NO_PERCENTAGE, DeviceBackend
from scheduler_app.core.fit import FitContext
from scheduler_app.core.quota import NamespaceQuota, QuotaEntry
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, VendorKey
from scheduler_app.devices import cambricon, hygon, iluvatar
from tests.devices.ascend.chips import CHIP_P, make_ascend
from tests.factories import make_card, make_context, make_pod

BACKENDS: list[DeviceBackend] = [
    make_ascend(CHIP_P),
    cambricon.MluBackend(cambricon.Config(resource_memory_name="cambricon.com/memory")),
    hygon.DcuBackend(hygon.Config(resource_memory_name="hygon.com/memory")),
    iluvatar.IluvatarBackend(
        iluvatar.Config(common_word="MR-V100", resource_memory_name="iluvatar.ai/memory")
    ),
]
Grid = tuple[bool, int, int, int, int, int, int]

# health, shares, used, memory, memory used, cores, cores used; cards, memory, percent, cores; the outcome
GRID = [
    ("VB-E40", (True, 10, 0, 1000, 0, 100, 0), (1, 100, 0, 50), (100, 50)),
    ("VB-E41", (False, 0, 0, 0, 0, 0, 0), (1, 100, 0, 50), "1/1 CardNotHealth"),
    ("VB-E42", (True, 1, 1, 1000, 0, 100, 0), (1, 100, 0, 50), "1/1 CardTimeSlicingExhausted"),
    ("VB-E43", (True, 0, 0, 1000, 0, 100, 0), (1, 100, 0, 50), "1/1 CardTimeSlicingExhausted"),
    ("VB-E44", (True, 10, 1, 1000, 0, 100, 0), (1, 100, 0, 50), "1/1 ExclusiveDeviceAllocateConflict"),
    ("VB-E45", (True, 10, 0, 1000, 0, 100, 0), (1, 100, 0, 50), (100, 50)),
    ("VB-E46", (True, 10, 1, 1000, 900, 100, 0), (1, 100, 0, 50), (100, 50)),
    ("VB-E47", (True, 10, 1, 1000, 901, 100, 0), (1, 100, 0, 50), "1/1 CardInsufficientMemory"),
    ("VB-E48", (True, 10, 1, 1000, 0, 100, 50), (1, 100, 0, 50), (100, 50)),
    ("VB-E49", (True, 10, 1, 1000, 0, 100, 51), (1, 100, 0, 50), "1/1 CardInsufficientCore"),
    ("VB-E50", (True, 10, 1, 1000, 901, 100, 51), (1, 100, 0, 50), "1/1 CardInsufficientMemory"),
    ("VB-E51", (True, 10, 0, 1000, 0, 100, 0), (1, 100, 0, 100), (100, 100)),
    ("VB-E52", (True, 10, 1, 1000, 0, 100, 0), (1, 100, 0, 100), "1/1 ExclusiveDeviceAllocateConflict"),
    ("VB-E53", (True, 10, 0, 1000, 0, 100, 0), (1, 100, 0, 120), (100, 100)),
    ("VB-E54", (True, 10, 0, 1000, 0, 60, 0), (1, 100, 0, 120), "1/1 CardInsufficientCore"),
    ("VB-E55", (True, 10, 1, 1000, 0, 100, 100), (1, 100, 0, 0), "1/1 CardComputeUnitsExhausted"),
    ("VB-E56", (True, 10, 1, 1000, 0, 100, 101), (1, 100, 0, 0), "1/1 CardInsufficientCore"),
    ("VB-E57", (True, 10, 1, 1000, 0, 0, 0), (1, 100, 0, 0), (100, 0)),
    ("VB-E58", (True, 10, 0, 1000, 0, 100, 0), (1, 0, 33, 0), (330, 0)),
    ("VB-E59", (True, 10, 1, 1000, 1, 100, 0), (1, 0, 100, 0), "1/1 CardInsufficientMemory"),
    ("VB-E60", (True, 10, 1, 1000, 1000, 100, 0), (1, 0, NO_PERCENTAGE, 0), (0, 0)),
    ("VB-E61", (True, 10, 1, 1000, 1000, 100, 0), (1, 0, 0, 0), (0, 0)),
    ("VB-E62", (True, 10, 0, 1000, 0, 100, 0), (2, 100, 0, 50), "1/1 AllocatedCardsInsufficientRequest"),
    ("VB-E63", (True, 10, 0, 0, 0, 100, 0), (1, 0, 100, 0), (0, 0)),
    ("DCU-E24", (True, 10, 1, 1000, 0, 120, 0), (1, 100, 0, 100), (100, 100)),
    ("DCU-E25", (True, 10, 0, 16385, 0, 100, 0), (1, 0, 50, 0), (8192, 0)),
    ("DCU-E25", (True, 10, 0, 16385, 0, 100, 0), (1, 7, 50, 0), (7, 0)),
]
MUTEX = {"VB-E44", "VB-E45"}


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.vendor_key)
def backend(request: pytest.FixtureRequest) -> DeviceBackend:
    assert isinstance(request.param, DeviceBackend)
    return request.param


def card_of(backend: DeviceBackend, grid: Grid) -> CardUsage:
    healthy, shares, used, mem_mib, mem_used, cores, cores_used = grid
    return make_card(
        vendor=backend.vendor_key,
        healthy=healthy,
        shares=shares,
        mem_mib=mem_mib,
        cores=cores,
        used=(used, mem_used, cores_used),
    )


@pytest.mark.parametrize(("case", "grid", "asked", "outcome"), GRID)
def test_a_card_is_given_or_the_first_reason_named(
    backend: DeviceBackend,
    case: str,
    grid: Grid,
    asked: tuple[int, int, int, int],
    outcome: tuple[int, int] | str,
) -> None:
    """VB-12 to VB-15, VB-E40 to VB-E63.

    Amounts: SF-7 (VB-E58 to E61), SF-9 (E46, E47), SF-10 (E48, E49), SF-11 (E51, E52), SF-12 (E55 to E57).
    """
    context = make_context(policy=" mutex , numa" if case in MUTEX else "spread")
    cards, mem_mib, percent, cores = asked
    request = CardRequest(cards, backend.vendor_key, mem_mib, percent, cores)
    result = backend.fit(context, [card_of(backend, grid)], request)
    if isinstance(outcome, str):
        assert (result.is_fit, result.allocations, result.reason) == (False, (), outcome)
    else:
        assert [(found.mem_mib, found.cores) for found in result.allocations] == [outcome]


STEPS = [  # SF-1 to SF-11 in their order
    "CardNotHealth",
    "CardTypeMismatch",
    "CardUuidMismatch",
    "CardTimeSlicingExhausted",
    "ExclusiveDeviceAllocateConflict",
    "ResourceQuotaNotFit",
    "CardInsufficientMemory",
    "CardInsufficientCore",
    "ExclusiveDeviceAllocateConflict",
    "",
]


@pytest.mark.parametrize("passed", range(len(STEPS)))
def test_the_steps_have_an_order_and_the_first_that_fails_is_the_reason(
    backend: DeviceBackend, passed: int
) -> None:
    """VB-13, SF-1, SF-2, SF-3, SF-4, SF-5, SF-8, SF-9, SF-10, SF-11: one step after the other comes to pass.

    SF-6: 120 cores are 100 before SF-10 and SF-11 look at them, which else would never pass and never refuse.
    SF-8: a quota of nothing is MLU's concern only.
    """
    card = make_card(
        vendor=backend.vendor_key,
        healthy=passed > 0,
        shares=2 if passed > 3 else 1,
        mem_mib=1000,
        used=(1 if passed < 9 else 0, 0, 0 if passed > 7 else 1),
    )
    kind = backend.vendor_key if passed > 1 else VendorKey("other")
    request = CardRequest(1, kind, 100 if passed > 6 else 1001, 0, 120)
    listed = {backend.keys.use_uuid: "card-0" if passed > 2 else "another"}
    context = FitContext(
        make_pod(annotations=listed),
        make_context().node,
        policy="mutex" if passed < 5 else "spread",
        quota=NamespaceQuota({backend.names.mem: QuotaEntry(0, None if passed > 5 else 0)}),
    )
    expected = STEPS[passed]
    if expected == "ResourceQuotaNotFit" and not backend.checks_quota:
        expected = STEPS[passed + 1]
    assert backend.fit(context, [card], request).reason == (f"1/1 {expected}" if expected else "")


class Watched(list[CardUsage]):
    """Cards that remember which of them were looked at."""

    def __init__(self, *cards: CardUsage) -> None:
        super().__init__(cards)
        self.seen: list[str] = []

    def __reversed__(self) -> Iterator[CardUsage]:
        for card in super().__reversed__():
            self.seen.append(card.id)
            yield card


def test_the_last_cards_that_pass_are_taken_and_the_others_not_looked_at(backend: DeviceBackend) -> None:
    """SF-13, SF-14: the record has place and id of the card and the type that was asked, not the model."""
    word, mib = backend.vendor_key, 1000
    four = [make_card(id=f"d{n}", vendor=word, type=f"{word}-9", index=n, mem_mib=mib) for n in range(4)]
    cards = Watched(four[0], four[1], replace(four[2], healthy=False), four[3])
    result = backend.fit(make_context(), cards, CardRequest(2, word, 0, 50, 30))
    taken = tuple(Allocation(CardId(f"d{n}"), word, mib // 2, 30, index=n) for n in (3, 1))
    assert (result.is_fit, result.allocations, result.reason) == (True, taken, "")
    assert cards.seen == ["d3", "d2", "d1"]


def test_whole_cards_beyond_32_bits_are_not_wrapped(backend: DeviceBackend) -> None:
    """VB-E64 as architecture, section 6 decides: the reference needs -12949672 MiB here."""
    card = card_of(backend, (True, 1, 0, 30_000_000, 0, 20, 0))
    result = backend.fit(make_context(), [card], CardRequest(1, backend.vendor_key, 0, 100))
    assert result.allocations[0].mem_mib == 30_000_000


def test_a_request_of_another_type_is_refused(backend: DeviceBackend) -> None:
    """SF-2, ASC-43: whatever the model is."""
    card = card_of(backend, (True, 10, 0, 1000, 0, 100, 0))
    result = backend.fit(make_context(), [card], CardRequest(1, VendorKey("other"), 100))
    assert result.reason == "1/1 CardTypeMismatch"


AMOUNTS = st.tuples(
    st.integers(1, 3), st.sampled_from([0, 1, 300, 700, 1000]), st.sampled_from([0, 10, 50, 100, 130])
)
NODES = st.lists(
    st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 2000), st.sampled_from([0, 20, 100])),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("chosen", BACKENDS, ids=lambda backend: backend.vendor_key)
@given(node=NODES, asks=st.lists(AMOUNTS, max_size=12))
def test_no_card_is_ever_given_beyond_what_it_has(
    chosen: DeviceBackend, node: list[tuple[bool, int, int, int]], asks: list[tuple[int, int, int]]
) -> None:
    """SF-4, SF-9, SF-10, VB-18: whatever is asked in whatever order, and a refusal changes nothing."""
    cards = [
        make_card(
            id=f"d{n}", vendor=chosen.vendor_key, healthy=healthy, shares=shares, mem_mib=mem_mib, cores=cores
        )
        for n, (healthy, shares, mem_mib, cores) in enumerate(node)
    ]
    for count, mem_mib, cores_asked in asks:
        before = list(cards)
        request = CardRequest(count, chosen.vendor_key, mem_mib, 0 if mem_mib else 100, cores_asked)
        result = chosen.fit(make_context(), cards, request)
        assert cards == before
        assert len(result.allocations) == (count if result.is_fit else 0)
        for allocation in result.allocations:
            place = next(n for n, card in enumerate(cards) if card.id == allocation.card)
            cards[place], _ = chosen.add_usage(cards[place], allocation, make_pod())
    for card in cards:
        assert card.shares_used <= card.card.shares
        assert card.mem_free_mib >= 0
        assert card.cores_free >= 0
        assert card.healthy or not card.shares_used
