"""What a filter call found on each candidate, kept compactly and told in full only when somebody asks.

Thousands of candidates share a few outcomes, so a call keeps the names and, beside them, references to
outcomes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

from scheduler_app.core.predicate import Outcome
from scheduler_app.core.types import NodeName


class Findings:
    """``outcomes`` stand in the order of ``names``, each name once; ``policy`` is the node policy."""

    def __init__(self, names: Sequence[NodeName], outcomes: Sequence[Outcome], *, policy: str) -> None:
        self.names = names
        self.outcomes = outcomes
        self._wants_lowest = policy == "spread"

    @cached_property
    def best(self) -> tuple[NodeName, float] | None:
        """The node that wins, with its score: of equal scores the smallest name (F-40, Q-33)."""
        scores = {outcome.score for outcome in self._distinct if outcome.devices is not None}
        if not scores:
            return None
        score = min(scores) if self._wants_lowest else max(scores)
        pairs = zip(self.names, self.outcomes, strict=True)
        name = min(name for name, outcome in pairs if outcome.score == score and outcome.devices is not None)
        return name, score

    @cached_property
    def fitting(self) -> Sequence[tuple[NodeName, float]]:
        """Every node that fits with its score, in the order of F-40: the winner is last."""
        pairs = zip(self.names, self.outcomes, strict=True)
        fits = [(name, outcome.score) for name, outcome in pairs if outcome.devices is not None]
        sign = -1.0 if self._wants_lowest else 1.0
        fits.sort(key=lambda pair: pair[0], reverse=True)
        fits.sort(key=lambda pair: sign * pair[1])
        return fits

    @cached_property
    def fitted(self) -> int:
        return sum(count for outcome, count in self.counted if outcome.devices is not None)

    @cached_property
    def refused(self) -> Mapping[NodeName, str]:
        """The exact text of every node that does not fit (F-33, M-23)."""
        pairs = zip(self.names, self.outcomes, strict=True)
        return {name: outcome.reason for name, outcome in pairs if outcome.devices is None}

    @cached_property
    def texts(self) -> Mapping[str, int]:
        """How many nodes were refused with which text."""
        found: Counter[str] = Counter()
        for outcome, count in self.counted:
            if outcome.devices is None:
                found[outcome.reason] += count
        return found

    @cached_property
    def counted(self) -> Sequence[tuple[Outcome, int]]:
        """Each distinct outcome with the number of nodes that share it."""
        counts = Counter(map(id, self.outcomes))
        return [(outcome, counts[id(outcome)]) for outcome in self._distinct]

    @cached_property
    def _distinct(self) -> Sequence[Outcome]:
        return list({id(outcome): outcome for outcome in self.outcomes}.values())


NO_FINDINGS = Findings((), (), policy="")
