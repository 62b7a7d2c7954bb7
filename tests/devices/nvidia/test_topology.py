"""The best linked cards (NV-50): the same winner as listing all choices, without listing them."""

from collections.abc import Mapping
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.types import Allocation, CardId, CardUsage
from scheduler_app.devices.nvidia import topology
from tests.devices.nvidia.cards import ask, card, fit, limit, mig_card

Pairs = Mapping[str, int]
LINKED = {"01": 100, "02": 200, "12": 150, "03": 10, "13": 10, "23": 10}


def linked(pairs: Pairs, count: int, **values: object) -> list[CardUsage]:
    """Return cards g0, g1, …; ``{"01": 5}`` is a score of 5 both ways, ``{"0>1": 5}`` one way."""
    rows: dict[str, dict[str, int]] = {f"g{n}": {} for n in range(count)}
    for pair, score in pairs.items():
        rows[f"g{pair[0]}"][f"g{pair[-1]}"] = score
        if ">" not in pair:
            rows[f"g{pair[-1]}"][f"g{pair[0]}"] = score
    return [card(id, link_scores=row, **values) for id, row in rows.items()]


def choose(cards: list[CardUsage], number: int, **context: object) -> tuple[list[str], str]:
    return fit(cards, ask(number), **{"policy": "topology-aware", **context})  # type: ignore[arg-type]  # test data


@pytest.mark.parametrize(
    ("number", "taken"),
    [(1, ["g3"]), (2, ["g2", "g0"]), (3, ["g2", "g1", "g0"]), (4, ["g3", "g2", "g1", "g0"])],
)
def test_well_linked_cards_go_together(number: int, taken: list[str]) -> None:
    """NV-E50: and a single card is the one the others miss least."""
    assert choose(linked(LINKED, 4), number) == (taken, "")


def test_too_few_cards_are_told() -> None:
    """NV-E50."""
    assert choose(linked(LINKED, 4), 5) == ([], "4/4 AllocatedCardsInsufficientRequest")


def test_p07_scores_may_be_negative_zero_or_absent() -> None:
    """NV-E51: a choice is found, and always the same one."""
    negative = linked({"01": -5, "02": -3, "12": -1}, 3)
    assert choose(negative, 1) == (["g0"], "")
    assert choose(negative, 2) == (["g2", "g1"], "")
    assert choose(linked({}, 4), 1) == (["g3"], "")
    assert choose(linked({}, 4), 2) == (["g3", "g2"], "")
    zeros = linked(dict.fromkeys(LINKED, 0), 4)
    assert choose(zeros, 1) == (["g3"], "")
    assert choose(zeros, 2) == (["g3", "g2"], "")


def test_only_the_last_numa_group_is_looked_at() -> None:
    """NV-E52: a larger group seen earlier is forgotten (NV-43)."""
    bind = {"nvidia.com/numa-bind": "1"}
    numa = [card("g0", numa=0), card("g1", numa=1), card("g2", numa=1)]
    assert choose(numa, 2, annotations=bind) == ([], "1/3 AllocatedCardsInsufficientRequest")
    numa = [card("g0", numa=0), card("g1", numa=0), card("g2", numa=1)]
    assert choose(numa, 2, annotations=bind) == (["g1", "g0"], "")


def test_p07_scores_count_from_the_card_visited_earlier() -> None:
    """NV-E53: where both directions of a link differ."""
    cards = linked({"0>1": 1, "1>0": 900, "1>2": 5, "2>0": 50, "2>1": 7}, 3)
    assert choose(cards, 2) == (["g1", "g0"], "")
    assert choose(cards, 1) == (["g0"], "")


def test_a_link_is_worth_what_the_card_visited_earlier_says() -> None:
    """NVP-6: one CPU and 4 NVLinks are 420 seen from one end, 220 from the other that counts 2."""
    assert choose(linked({"0>1": 420, "1>0": 220, "12": 310}, 3), 2) == (["g2", "g1"], "")
    assert choose(linked({"0>1": 220, "1>0": 420, "12": 310}, 3), 2) == (["g1", "g0"], "")


def test_other_policy_words_hold_as_well() -> None:
    """NV-E54."""
    cards = [card("g0", used=(1, 0, 0)), card("g1"), card("g2")]
    assert choose(cards, 2, policy="topology-aware,mutex") == (["g2", "g1"], "")


@pytest.mark.parametrize(
    ("number", "mem", "expected"),
    [
        (1, 1024, (["g3"], "")),
        (1, 1500, (["g3"], "")),
        (3, 1024, ([], "2/4 AllocatedCardsInsufficientRequest, 2/4 ResourceQuotaNotFit")),
    ],
)
def test_a_quota_shrinks_the_choice(number: int, mem: int, expected: tuple[list[str], str]) -> None:
    """NV-E55, NV-46: every card that could be taken counts, needed or not."""
    cards = linked({"12": 5, "13": 5, "23": 5}, 4, mem_mib=4000)
    assert choose(cards, 1)[0] == ["g0"]
    request = ask(number, mem)
    assert fit(cards, request, policy="topology-aware", quota=limit(mem=2048)) == expected


def allocation(card_id: str) -> Allocation:
    return Allocation(CardId(card_id), "NVIDIA", 0, 0)


def best_of_all(taken: list[Allocation], count: int, scores: topology.PairScores) -> list[Allocation]:
    """Return what NV-50 says, by listing every choice."""

    def value(choice: tuple[int, ...]) -> int:
        pairs = combinations(choice, 2)
        return sum(scores.get(taken[i].card, {}).get(taken[j].card, 0) for i, j in pairs)

    best = max(combinations(range(len(taken)), count), key=value)
    return [taken[position] for position in best]


@st.composite
def choices(draw: st.DrawFn) -> tuple[list[Allocation], int, topology.PairScores]:
    """Cards that passed, some several times (MIG); scores often tie, rows may miss or name themselves."""
    ids = [CardId(f"g{n}") for n in range(draw(st.integers(1, 6)))]
    score = st.sampled_from([0, 1, 10, 20]) | st.integers(-50, 500)
    scores: topology.PairScores = {
        one: {other: draw(score) for other in ids if draw(st.booleans())} for one in ids
    }
    taken = [allocation(id) for id in draw(st.lists(st.sampled_from(ids), min_size=2, max_size=9))]
    if draw(st.booleans()):
        taken.sort(key=lambda one: one.card)
    return taken, draw(st.integers(2, len(taken))), scores


@given(choices())
def test_the_search_finds_what_listing_finds(
    case: tuple[list[Allocation], int, topology.PairScores],
) -> None:
    """NV-50: also the first among equals."""
    taken, count, scores = case
    found = topology.best_linked(taken, count, scores)
    assert [one.card for one in found] == [one.card for one in best_of_all(taken, count, scores)]


def test_eight_mig_cards_do_not_take_for_ever() -> None:
    """NV-50, NV-48: 56 candidates are 8 cards with 7 instances each, not 1.4e9 choices."""
    scores = {
        f"m{n}": {f"m{k}": 420 if n // 4 == k // 4 else 10 for k in range(8) if k != n} for n in range(8)
    }
    cards = [mig_card(id, link_scores=row) for id, row in scores.items()]
    taken, reason = fit(cards, ask(8, 5000), policy="topology-aware")
    assert (taken, reason) == (["m7"] * 2 + ["m6"] * 2 + ["m5"] * 2 + ["m4"] * 2, "")


def test_a_hostile_score_text_costs_bounded_work() -> None:
    """NV-50: hundreds of cards with random-looking scores end with a good choice instead of never."""
    ids = [CardId(f"g{n}") for n in range(60)]
    scores: topology.PairScores = {
        one: {other: (n * 7919 + k * 104729) % 997 for k, other in enumerate(ids)}
        for n, one in enumerate(ids)
    }
    assert len(topology.best_linked([allocation(id) for id in ids], 30, scores)) == 30
