"""What a filter call found on each candidate, kept compactly and told in full only when somebody asks.

Thousands of candidates share a few outcomes, so a call keeps the names, beside them a key each, and the
outcome of each key. What follows from that is worked out by a key, or by the loops inside built-in functions.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import compress

from scheduler_app.core.predicate import Outcome
from scheduler_app.core.types import NodeName


class Findings:
    """``keys`` stand in the order of ``names``, each name once; ``outcomes`` has no others than these keys.

    ``policy`` is the node policy.
    """

    def __init__(
        self,
        names: Sequence[NodeName],
        keys: Sequence[Hashable],
        outcomes: Mapping[Hashable, Outcome],
        *,
        policy: str,
    ) -> None:
        self.names = names
        self._keys = keys
        self._outcomes = outcomes
        self._wants_lowest = policy == "spread"

    @cached_property
    def best(self) -> tuple[NodeName, float] | None:
        """The node that wins, with its score: of equal scores the smallest name (F-40, Q-33)."""
        scores = self._scores
        if not scores:
            return None
        score = min(scores.values()) if self._wants_lowest else max(scores.values())
        best = {key for key, found in scores.items() if found == score}
        return min(compress(self.names, map(best.__contains__, self._keys))), score

    @cached_property
    def fitting(self) -> Sequence[tuple[NodeName, float]]:
        """Every node that fits with its score, in the order of F-40: the winner is last."""
        pairs = zip(self.names, map(self._outcomes.__getitem__, self._keys), strict=True)
        fits = [(name, outcome.score) for name, outcome in pairs if outcome.devices is not None]
        sign = -1.0 if self._wants_lowest else 1.0
        fits.sort(key=lambda pair: pair[0], reverse=True)
        fits.sort(key=lambda pair: sign * pair[1])
        return fits

    def best_fitting(self, limit: int) -> Sequence[tuple[NodeName, float]]:
        """Return the last ``limit`` of ``fitting``, without putting thousands of nodes in order."""
        names: dict[float, list[NodeName]] = {}
        scores = self._scores
        for name, key in zip(self.names, self._keys, strict=True):
            if key in scores:
                names.setdefault(scores[key], []).append(name)
        found: list[tuple[NodeName, float]] = []
        for score in sorted(names, reverse=not self._wants_lowest):
            found.extend((name, score) for name in nsmallest(limit - len(found), names[score]))
            if len(found) >= limit:
                break
        return found[::-1]

    @cached_property
    def fitted(self) -> int:
        return sum(map(self._scores.__contains__, self._keys))

    @cached_property
    def refused(self) -> Mapping[NodeName, str]:
        """The exact text of every node that does not fit (F-33, M-23)."""
        if not self._reasons:
            return {}
        names = compress(self.names, map(self._reasons.__contains__, self._keys))
        return dict(zip(names, self._refusals(), strict=True))

    @cached_property
    def texts(self) -> Mapping[str, int]:
        """How many nodes were refused with which text."""
        return Counter(self._refusals()) if self._reasons else {}

    def _refusals(self) -> Iterator[str]:
        """Return the text of each node that does not fit, in the order of the names."""
        return map(self._reasons.__getitem__, filter(self._reasons.__contains__, self._keys))

    @cached_property
    def _scores(self) -> Mapping[Hashable, float]:
        """The score of each key whose nodes fit."""
        return {key: outcome.score for key, outcome in self._outcomes.items() if outcome.devices is not None}

    @cached_property
    def _reasons(self) -> Mapping[Hashable, str]:
        """The reason of each key whose nodes do not fit."""
        return {key: outcome.reason for key, outcome in self._outcomes.items() if outcome.devices is None}


NO_FINDINGS = Findings((), (), {}, policy="")
