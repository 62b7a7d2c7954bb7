"""What follows from the outcomes of candidates (F-33, F-36, F-40, M-23)."""

import pytest

from scheduler_app.core.findings import NO_FINDINGS, Findings, rank
from scheduler_app.core.predicate import Outcome
from scheduler_app.core.types import NodeName


def fits(score: float) -> Outcome:
    return Outcome({}, score=score)


def refuses(text: str, container: int | None = None) -> Outcome:
    return Outcome(None, reason=text, container=container)


def found(policy: str = "binpack", **outcomes: Outcome) -> Findings:
    return Findings.of({NodeName(name): outcome for name, outcome in outcomes.items()}, policy=policy)


@pytest.mark.parametrize(("policy", "winner"), [("binpack", ("b", 9.0)), ("spread", ("d", -1.0))])
def test_the_policy_says_which_score_wins(policy: str, winner: tuple[str, float]) -> None:
    """F-36."""
    told = found(policy, a=fits(3.0), b=fits(9.0), c=refuses("x"), d=fits(-1.0))
    assert told.best == winner
    assert told.fitting[-1] == winner


def test_of_equal_scores_the_smallest_name_wins() -> None:
    """F-40, Q-33."""
    assert found(c=fits(2.0), b=fits(2.0), a=fits(1.0)).best == ("b", 2.0)
    assert found(c=fits(2.0), b=fits(2.0)).best == ("b", 2.0)


def test_a_node_that_does_not_fit_never_wins_however_low_the_scores() -> None:
    lowest = float("-inf")
    assert found(a=refuses("x"), b=fits(lowest)).best == ("b", lowest)
    assert rank(fits(lowest), policy="binpack") > rank(refuses("x"), policy="binpack")


def test_refusals_are_told_by_node_and_by_text() -> None:
    """F-33, M-23."""
    told = found(a=refuses("x"), b=fits(1.0), c=refuses("y"), d=refuses("x"))
    assert told.refused == {"a": "x", "c": "y", "d": "x"}
    assert told.by_text == {"x": ["a", "d"], "y": ["c"]}
    assert told.texts == {"x": 2, "y": 1}
    assert told.fitted == 1
    assert found(a=refuses("x"), b=fits(1.0), c=refuses("x")).by_text == {"x": ["a", "c"]}


def test_refusals_are_told_by_container() -> None:
    """console.md 6.2: nodes on which no container was tried are in no list."""
    told = found(a=refuses("x", 2), b=fits(1.0), c=refuses("y", 0), d=refuses("x", 0), e=refuses("z"))
    assert told.by_container == {2: ["a"], 0: ["c", "d"]}
    assert told.containers == {"x": [0, 2], "y": [0]}
    assert found(b=fits(1.0)).by_container == {}


def test_the_best_of_many_are_the_last_of_all() -> None:
    told = found("spread", **{f"n{n}": fits(float(n % 3)) for n in range(9)})
    assert list(told.best_fitting(4)) == list(told.fitting)[-4:]


def test_where_nothing_was_looked_at_nothing_is_found() -> None:
    assert NO_FINDINGS.best is None
    assert not NO_FINDINGS.refused
    assert not NO_FINDINGS.by_text
    assert not NO_FINDINGS.texts
