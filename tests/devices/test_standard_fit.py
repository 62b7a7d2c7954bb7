"""The algorithm that Ascend, MLU, DCU and Iluvatar share: one grid, run on all four."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.backend import NO_PERCENTAGE, DeviceBackend
from scheduler_app.core.quota import NamespaceQuota, QuotaEntry
from scheduler_app.core.types import CardId, CardRequest, CardUsage
from scheduler_app.devices import cambricon, hygon, iluvatar
from tests.devices.ascend.chips import CHIP_P, make_ascend
from tests.factories import make_card, make_context, make_pod

BACKENDS: list[DeviceBackend] = [
    make_ascend(CHIP_P),
    cambricon.MluBackend(cambricon.Config("m.io/n", "m.io/mem", "m.io/cores")),
    hygon.DcuBackend(hygon.Config("d.io/n", "d.io/mem", "d.io/cores")),
    iluvatar.IluvatarBackend(iluvatar.Config("MR-V100", "", "i.io/n", "i.io/mem", "i.io/cores")),
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
    """SF-1, SF-4 to SF-7, SF-9 to SF-13, VB-12 to VB-15, VC-5, VC-7, VB-E40 to VB-E63."""
    context = make_context(policy=" mutex , numa" if case in MUTEX else "spread")
    cards, mem_mib, percent, cores = asked
    request = CardRequest(cards, backend.vendor_key, mem_mib, percent, cores)
    result = backend.fit(context, [card_of(backend, grid)], request)
    if isinstance(outcome, str):
        assert (result.is_fit, result.allocations, result.reason) == (False, (), outcome)
    else:
        assert [(found.mem_mib, found.cores) for found in result.allocations] == [outcome]


def test_whole_cards_beyond_32_bits_are_not_wrapped(backend: DeviceBackend) -> None:
    """VB-E64 as architecture, section 6 decides: the reference needs -12949672 MiB here."""
    card = card_of(backend, (True, 1, 0, 30_000_000, 0, 20, 0))
    result = backend.fit(make_context(), [card], CardRequest(1, backend.vendor_key, 0, 100))
    assert result.allocations[0].mem_mib == 30_000_000


def asking(backend: DeviceBackend, *, cards: int = 1) -> CardRequest:
    return CardRequest(cards, backend.vendor_key, 100, 0, 50)


def test_a_request_of_another_type_is_refused(backend: DeviceBackend) -> None:
    """SF-2, ASC-43: whatever the model is."""
    card = card_of(backend, (True, 10, 0, 1000, 0, 100, 0))
    result = backend.fit(make_context(), [card], CardRequest(1, type(backend.vendor_key)("other"), 100))
    assert result.reason == "1/1 CardTypeMismatch"


@pytest.mark.parametrize(("key", "text"), [("use_uuid", "b , c"), ("nouse_uuid", " a"), ("use_uuid", "A")])
def test_lists_of_ids_come_before_shares(backend: DeviceBackend, key: str, text: str) -> None:
    """SF-3, VB-16, VC-6: items are trimmed and compared to the letter; a used-up card is not told as such."""
    card = card_of(backend, (True, 1, 1, 1000, 0, 100, 0))
    pod = make_pod(annotations={getattr(backend.keys, key): text})
    result = backend.fit(
        make_context(pod=pod), [replace(card, card=replace(card.card, id=CardId("a")))], asking(backend)
    )
    assert result.reason == "1/1 CardUuidMismatch"


@pytest.mark.parametrize("key", ["use_uuid", "nouse_uuid"])
def test_a_blank_list_of_ids_chooses_nothing(backend: DeviceBackend, key: str) -> None:
    """VB-16."""
    pod = make_pod(annotations={getattr(backend.keys, key): "  "})
    card = card_of(backend, (True, 10, 0, 1000, 0, 100, 0))
    assert backend.fit(make_context(pod=pod), [card], asking(backend)).is_fit


def test_the_search_ends_with_the_last_card_that_is_needed(backend: DeviceBackend) -> None:
    """SF-13, SF-14, VB-13: from the last card on; earlier ones are not looked at, and no reason is told."""
    sick, *free = (
        make_card(id=id, vendor=backend.vendor_key, healthy=id != "a", mem_mib=1000, index=n)
        for n, id in enumerate("abcd")
    )
    result = backend.fit(make_context(), [sick, *free], asking(backend, cards=2))
    assert [(str(found.card), found.index) for found in result.allocations] == [("d", 3), ("c", 2)]
    assert (result.is_fit, result.reason) == (True, "")


@pytest.mark.parametrize(("limit", "refused"), [(0, True), (100, False)])
def test_only_one_of_them_looks_at_the_quota_card_by_card(
    backend: DeviceBackend, limit: int, refused: bool
) -> None:
    """SF-8: MLU, before it looks at memory, of which this card has none left."""
    card = card_of(backend, (True, 10, 1, 1000, 1000, 100, 0))
    quota = NamespaceQuota({backend.names.mem: QuotaEntry(0, limit, "q")})
    word = "ResourceQuotaNotFit" if refused and backend.vendor_key == "MLU" else "CardInsufficientMemory"
    assert backend.fit(make_context(quota=quota), [card], asking(backend)).reason == f"1/1 {word}"


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
