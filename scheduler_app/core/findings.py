"""What a filter call found on each candidate, kept compactly and told in full only when somebody asks.

Thousands of candidates share a few outcomes, so a call keeps the names, beside them a key each, and the
outcome of each key. What follows from that is worked out by a key, or by the loops inside built-in functions.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import compress, repeat
from operator import eq

from scheduler_app.core.predicate import Outcome
from scheduler_app.core.types import NodeName

UNFIT = float("-inf")
"""The rank of a node that does not fit; no score of a node that fits ranks as low."""
_LOWEST = -1.7e308
_LOWEST_WINS = "spread"


def rank(outcome: Outcome, *, policy: str) -> float:
    """Return a number that is higher the better a node is under the node policy (F-36, F-40)."""
    if outcome.devices is None:
        return UNFIT
    return max(-outcome.score if policy == _LOWEST_WINS else outcome.score, _LOWEST)


class Findings:
    """``keys`` stand in the order of ``names``, each name once; ``outcomes`` has every one of these keys.

    It may have others too and go on growing: only keys of this call are looked up in it. ``ranks`` are each
    name's ``rank`` under ``policy``, the node policy; they are used at once and not kept.

    ``best`` is the node that wins, with its score: of equal scores the smallest name (F-40, Q-33). ``fitted``
    is how many fit.
    """

    def __init__(
        self,
        names: Sequence[NodeName],
        keys: Sequence[Hashable],
        outcomes: Mapping[Hashable, Outcome],
        *,
        ranks: Sequence[float],
        policy: str,
    ) -> None:
        self.names = names
        self._keys = keys
        self._outcomes = outcomes
        self._wants_lowest = policy == _LOWEST_WINS
        self.fitted = len(names) - ranks.count(UNFIT)
        self.best = self._winner(ranks) if self.fitted else None

    @classmethod
    def of(cls, outcomes: Mapping[NodeName, Outcome], *, policy: str) -> "Findings":
        """Return the findings of nodes of which each has an outcome of its own."""
        ranks = [rank(outcome, policy=policy) for outcome in outcomes.values()]
        names = tuple(outcomes)
        return cls(names, names, dict[Hashable, Outcome](outcomes.items()), ranks=ranks, policy=policy)

    def _winner(self, ranks: Sequence[float]) -> tuple[NodeName, float]:
        top = max(ranks)
        if ranks.count(top) == len(ranks):
            name = min(self.names)
        else:
            name = min(compress(self.names, map(eq, ranks, repeat(top))))
        return name, self._outcomes[self._keys[ranks.index(top)]].score

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
    def refused(self) -> Mapping[NodeName, str]:
        """The exact text of every node that does not fit (F-33, M-23)."""
        if not self._reasons:
            return {}
        names = compress(self.names, map(self._reasons.__contains__, self._keys))
        return dict(zip(names, self._refusals(), strict=True))

    @cached_property
    def by_text(self) -> Mapping[str, Sequence[NodeName]]:
        """The nodes that were refused with each text, in the order of the names."""
        if len(set(self._reasons.values())) == 1:  # as a rule; then nothing is done for each name
            return {next(iter(self._reasons.values())): list(self.refused)}
        found: dict[str, list[NodeName]] = {}
        for name, text in self.refused.items():
            found.setdefault(text, []).append(name)
        return found

    @cached_property
    def by_container(self) -> Mapping[int, Sequence[NodeName]]:
        """The refused nodes by which of the pod's containers did not fit, as its place among all of them.

        Nodes on which none was tried are in no list.
        """
        places = {key: outcome.container for key, outcome in self._found if outcome.container is not None}
        found: dict[int, list[NodeName]] = {}
        for name, key in zip(self.names, self._keys, strict=True) if places else ():
            if key in places:
                found.setdefault(places[key], []).append(name)
        return found

    @cached_property
    def containers(self) -> Mapping[str, Sequence[int]]:
        """The places of the containers that were refused with each text, ascending."""
        found: dict[str, set[int]] = {}
        for _, outcome in self._found:
            if outcome.container is not None:
                found.setdefault(outcome.reason, set()).add(outcome.container)
        return {text: sorted(places) for text, places in found.items()}

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
        return {key: outcome.score for key, outcome in self._found if outcome.devices is not None}

    @cached_property
    def _reasons(self) -> Mapping[Hashable, str]:
        """The reason of each key whose nodes do not fit."""
        if self.fitted == len(self.names):
            return {}
        return {key: outcome.reason for key, outcome in self._found if outcome.devices is None}

    @property
    def _found(self) -> Iterator[tuple[Hashable, Outcome]]:
        return ((key, self._outcomes[key]) for key in set(self._keys))


NO_FINDINGS = Findings((), (), {}, ranks=(), policy="")
