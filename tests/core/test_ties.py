"""Which of the nodes that fit wins (F-40)."""

from collections.abc import Hashable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.findings import Findings, rank
from scheduler_app.core.predicate import Outcome
from scheduler_app.core.types import NodeName

Scores = dict[str, float]


def findings(scores: Scores, *, policy: str, order: list[str] | None = None) -> Findings:
    """Return what was found on nodes that fit with these scores, asked in this order."""
    names = [NodeName(name) for name in order or scores]
    outcomes: dict[Hashable, Outcome] = {value: Outcome({}, value) for value in scores.values()}
    keys = [scores[name] for name in names]
    ranks = [rank(outcomes[key], policy=policy) for key in keys]
    return Findings(names, keys, outcomes, ranks=ranks, policy=policy)


@pytest.mark.parametrize(("policy", "winner"), [("binpack", "b"), ("spread", "a"), ("", "b")])
def test_the_lowest_score_wins_under_spread_only(policy: str, winner: str) -> None:
    """A-4."""
    best = findings({"a": 1.0, "b": 2.0}, policy=policy).best
    assert best is not None
    assert best[0] == winner


few_scores = st.sampled_from([-10_000.0, 0.0, 1.5, 30.0])


@given(
    st.dictionaries(st.text("abcn0123456789-", min_size=1), few_scores, min_size=1),
    st.sampled_from(["binpack", "spread"]),
    st.randoms(use_true_random=False),
)
def test_p09_ties_are_broken_alike_whatever_the_order(scores: Scores, policy: str, random: Random) -> None:
    """A-4, F-40, Q-33: of equal scores the smallest name, and never a node with a worse score."""
    order = list(scores)
    random.shuffle(order)
    found = findings(scores, policy=policy, order=order)
    extreme = min(scores.values()) if policy == "spread" else max(scores.values())
    assert found.best == (min(name for name, value in scores.items() if value == extreme), extreme)
    assert found.fitting[-1] == found.best
    assert found.best_fitting(1)[-1] == found.best
