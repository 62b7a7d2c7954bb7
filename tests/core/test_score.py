"""Scores in float32, weights, and the order of cards (F-17, F-24 to F-26, F-36, Appendix B)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core import score
from scheduler_app.core.float32 import bits, f32
from scheduler_app.core.score import EVEN_WEIGHTS, ScoredCard, Weights, WeightsError
from scheduler_app.core.types import CardRequest, CardUsage, VendorKey
from tests.factories import make_card

Amounts = tuple[int, int]
V100 = "NVIDIA-Tesla V100"


def usage(shares: Amounts, cores: Amounts, mem: Amounts, *, model: str = "NVIDIA") -> CardUsage:
    """Return a card from pairs of used and total."""
    return make_card(
        type=model,
        shares=shares[1],
        cores=cores[1],
        mem_mib=mem[1],
        used=(shares[0], mem[0], cores[0]),
    )


def weights(slot: int, core: int, memory: int) -> Weights:
    return Weights(f32(slot), f32(core), f32(memory))


def asked(mem: int, percent: int, cores: int, *, cards: int = 1, type: str = "NVIDIA") -> CardRequest:
    return CardRequest(cards, VendorKey(type), mem, percent, cores)


USED_V100 = usage((1, 10), (10, 100), (1000, 8000), model=V100)
THIRD = usage((1, 3), (7, 100), (1234, 24576))
SEVENTH = usage((2, 7), (33, 100), (11111, 40960))
TENTH = usage((2, 10), (1, 4), (2048, 8192), model="type1")


@pytest.mark.parametrize(
    ("card", "requests", "weighed", "expected"),
    [
        (usage((0, 10), (0, 100), (0, 8000)), [asked(1000, 101, 30)], EVEN_WEIGHTS, "0x40a80000"),
        (usage((0, 10), (0, 100), (0, 8000), model=V100), [asked(1000, 101, 30)], EVEN_WEIGHTS, "0x00000000"),
        (USED_V100, [asked(1000, 101, 30)], EVEN_WEIGHTS, "0x40500000"),
        (THIRD, [asked(0, 33, 7, cards=2)], EVEN_WEIGHTS, "0x413de666"),
        (THIRD, [asked(500, 33, 7)], EVEN_WEIGHTS, "0x413de666"),
        (THIRD, [asked(500, 0, 7)], EVEN_WEIGHTS, "0x410c5b11"),
        (SEVENTH, [asked(777, 101, 11)], weights(1, 1, 3), "0x418b2458"),
        (SEVENTH, [asked(777, 101, 11)], weights(0, 7, 16777217), "0x4c39c008"),
        (usage((1, 0), (1, 100), (1, 100)), [], EVEN_WEIGHTS, "0x00000000"),
        (usage((1, 10), (1, 0), (1, 100)), [], EVEN_WEIGHTS, "0x00000000"),
        (usage((1, 10), (1, 100), (1, 0)), [], EVEN_WEIGHTS, "0x00000000"),
        (TENTH, [], EVEN_WEIGHTS, bits(7.0)),
        (
            TENTH,
            [asked(1024, 0, 1, cards=4, type="type1"), asked(9, 9, 9, type="type2")],
            EVEN_WEIGHTS,
            bits(11.75),
        ),
    ],
)  # fmt: skip
def test_a_card_is_scored_bit_by_bit(
    card: CardUsage, requests: list[CardRequest], weighed: Weights, expected: str
) -> None:
    """Q-49, Appendix B, F-26: only requests whose type equals the model count (Q-31)."""
    assert bits(score.card_score(card, requests, weighed)) == expected


def test_p06_predicted_use_is_one_share_of_the_same_vendor() -> None:
    """F-26: four cards and another vendor's request; memory in percent is of this card's total."""
    idle = usage((0, 8), (0, 100), (0, 8000))
    requests = [asked(0, 50, 0, cards=4), asked(4000, 101, 50, type="Ascend910B3")]
    assert score.card_score(idle, requests, EVEN_WEIGHTS) == 10 * (1 / 8 + 4000 / 8000)


@pytest.mark.parametrize(
    ("card", "weighed", "expected"),
    [
        ((1, 90, 10), (1, 1, 1), 16),
        ((1, 90, 10), (1, 1, 3), 26),
        ((1, 90, 10), (1, 3, 1), 34),
        ((7, 10, 20), (1, 1, 1), 15),
        ((7, 10, 20), (1, 1, 3), 27),
        ((7, 10, 20), (1, 3, 1), 17),
    ],
)
def test_weights_shift_what_counts(
    card: tuple[int, int, int], weighed: tuple[int, int, int], expected: float
) -> None:
    """Appendix B, F-17."""
    shares, cores, mem = card
    found = score.card_score(
        usage((shares, 10), (cores, 100), (mem, 100), model="type1"),
        [asked(0, 40, 0, type="type1")],
        weights(*weighed),
    )
    assert found == expected


IDLE = usage((0, 10), (0, 100), (0, 81920))


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ([usage((0, 10), (0, 100), (0, 8000)), usage((5, 10), (50, 100), (4000, 8000))], bits(7.5)),
        (
            [usage((1, 10), (10, 100), (1000, 81920)), IDLE, usage((3, 10), (25, 100), (30000, 81920))],
            "0x4070baac",
        ),
        ([THIRD], "0x40912266"),
        ([usage((1, 10), (10, 100), (0, 0)), IDLE], bits(1.0)),
        ([usage((1, 10), (10, 100), (0, 0))], bits(0.0)),
        ([usage((50, 100), (100, 100), (100, 100)), usage((75, 150), (200, 200), (200, 200))], bits(25.0)),
        ([], bits(0.0)),
    ],
)
def test_a_node_is_scored_by_its_sums(cards: list[CardUsage], expected: str) -> None:
    """Q-32, Appendix B, F-36."""
    assert bits(score.node_score(cards)) == expected


amounts = st.integers(1, 2**31 - 1).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))


@given(st.lists(st.builds(usage, amounts, amounts, amounts), max_size=8))
def test_p09_the_base_score_stays_between_0_and_30(cards: list[CardUsage]) -> None:
    """F-36: ten for each of shares, cores and memory, at the lowest and at the highest possible usage."""
    assert 0.0 <= score.node_score(cards) <= 30.0


def test_p09_idle_and_full_nodes_are_the_ends() -> None:
    """F-36."""
    assert score.node_score([usage((0, 10), (0, 100), (0, 8000))] * 8) == 0.0
    assert score.node_score([usage((10, 10), (100, 100), (8000, 8000))] * 8) == 30.0


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, EVEN_WEIGHTS),
        ("slot=1,core=2,memory=3", weights(1, 2, 3)),
        (" memory = 3 ,slot=+1, core=0", weights(1, 0, 3)),
        ("slot=0,core=7,memory=16777217", Weights(0.0, 7.0, 16777216.0)),
    ],
)
def test_weights_are_read(raw: str | None, expected: Weights) -> None:
    """F-17."""
    assert score.parse_weights("key", raw) == expected


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ("", "expected slot, core, and memory weights"),
        ("slot=1,core=1", "expected slot, core, and memory weights"),
        ("slot=1,core,memory=1", "expected key=value entries"),
        ("slot=1,slot=1,memory=1", 'duplicate "slot" weight'),
        ("slot=1.5,core=1,memory=1", '"slot" weight must be an integer'),
        ("slot=99999999999999999999,core=1,memory=1", '"slot" weight must be an integer'),
        ("slot=-1,core=1,memory=1", '"slot" weight must not be negative'),
        ("gpu=1,core=1,memory=1", 'unknown weight "gpu"'),
        ("gpu=x,core=1,memory=1", '"gpu" weight must be an integer'),
        ("slot=0,core=0,memory=0", "at least one weight must be positive"),
    ],
)
def test_bad_weights_are_explained(raw: str, complaint: str) -> None:
    """F-17: the order of the checks shows in which complaint comes first."""
    with pytest.raises(WeightsError) as raised:
        score.parse_weights("hami.io/device-scoring-weights", raw)
    assert str(raised.value) == f'invalid hami.io/device-scoring-weights annotation "{raw}": {complaint}'


# The order of cards


def scored(id: str, value: float, *, numa: int = 0, used: int = 0, index: int = 0) -> ScoredCard:
    return ScoredCard(make_card(id=id, numa=numa, index=index, used=(used, 0, 0)), value)


FOUR = [
    scored("a", 2.0, numa=0, used=3, index=0),
    scored("b", 1.0, numa=1, used=1, index=1),
    scored("c", 2.0, numa=1, used=2, index=2),
    scored("d", 1.0, numa=0, used=0, index=3),
]


@pytest.mark.parametrize(
    ("policy", "binds_numa", "order"),
    [
        ("binpack", False, "dbac"),
        ("spread", False, "acdb"),
        ("", False, "acdb"),
        (" binpack", False, "acdb"),
        ("topology-aware", False, "acdb"),
        ("mutex", False, "acbd"),
        ("binpack", True, "bcda"),
        ("spread", True, "adcb"),
        ("mutex", True, "acbd"),
        ("numa", False, "adbc"),
        ("numa,binpack", False, "dabc"),
        ("binpack,numa", False, "dbac"),
        ("spread,numa", False, "acdb"),
        ("spread,mutex", False, "acbd"),
        ("mutex,topology-aware", False, "acbd"),
        ("binpack,numa", True, "dabc"),
        ("binpack,binpack", True, "dabc"),
        ("spread, numa ,binpack", True, "adcb"),
    ],
)
def test_the_preferred_card_comes_last(policy: str, binds_numa: bool, order: str) -> None:
    """F-24, F-25."""
    cards = list(FOUR)
    score.order_cards(cards, policy=policy, binds_numa=binds_numa)
    assert "".join(card.usage.id for card in cards) == order


@pytest.mark.parametrize(
    ("busy_socket", "binds_numa", "first_tried"),
    [(0, False, 0.1), (1, False, 0.1), (0, True, 0.1), (1, True, 0.7)],
)
def test_p01_the_score_leads_and_numa_breaks_ties(
    busy_socket: int, binds_numa: bool, first_tried: float
) -> None:
    """F-24: spread on two sockets; only a pod that binds to one socket is kept from the idlest card."""
    busy = [scored(f"b{value}", value, numa=busy_socket) for value in (0.9, 0.7)]
    calm = [scored(f"c{value}", value, numa=1 - busy_socket) for value in (0.3, 0.1)]
    cards = busy + calm
    score.order_cards(cards, policy="spread", binds_numa=binds_numa)
    assert cards[-1].score == first_tried


def test_equal_cards_keep_their_order() -> None:
    """A-1: up to twelve cards."""
    cards = [scored(str(n), 1.0) for n in range(12)]
    score.order_cards(cards, policy="binpack", binds_numa=False)
    assert [card.usage.id for card in cards] == [str(n) for n in range(12)]


def test_more_than_twelve_cards_are_ordered_as_the_reference_does() -> None:
    """A-2, A-3: not stable, but always the same."""
    keys = [1.0] + [0.0] * 15
    cards = [scored(str(n), key) for n, key in enumerate(keys)]
    score.order_cards(cards, policy="binpack", binds_numa=False)
    assert [int(card.usage.id) for card in cards] == [8, 9, 2, 3, 4, 5, 1, 6, 15, 7, 10, 11, 12, 13, 14, 0]


@given(st.lists(st.tuples(st.floats(0, 30, width=32), st.integers(0, 2)), max_size=40), st.booleans())
def test_an_order_loses_no_card(values: list[tuple[float, int]], binds_numa: bool) -> None:
    """F-24: whatever the size, scores ascend under binpack."""
    cards = [scored(str(n), value, numa=numa) for n, (value, numa) in enumerate(values)]
    score.order_cards(cards, policy="binpack", binds_numa=False)
    assert sorted(int(card.usage.id) for card in cards) == list(range(len(values)))
    found = [card.score for card in cards]
    assert found == sorted(found)
