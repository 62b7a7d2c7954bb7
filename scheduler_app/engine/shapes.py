"""The remembering evaluator: a request's outcome is worked out once for each distinct node state.

It answers exactly as ``evaluation.evaluate`` does, which stays the readable truth; a property test holds both
equal. Missing outcomes are worked out without any lock: shapes never change their meaning.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from scheduler_app.core.findings import Findings
from scheduler_app.core.predicate import Ask, Outcome, predicate
from scheduler_app.core.types import NodeName, NodeUsage
from scheduler_app.engine.evaluation import UNREGISTERED
from scheduler_app.engine.shapetable import NO_SHAPE

REQUESTS_KEPT = 256
OUTCOMES_KEPT = 200_000

Table = dict[int, Outcome]


@dataclass(slots=True)
class Work:
    """What was done since the start: outcomes worked out on the plain path."""

    misses: int = 0


class ShapeMemo:
    """Called under the decision lock, by one thread at a time."""

    def __init__(self, *, own_keys: frozenset[str]) -> None:
        self._own_keys = own_keys
        self._tables: OrderedDict[Hashable, Table] = OrderedDict()
        self._kept = 0
        self.work = Work()

    def evaluate(
        self,
        ask: Ask,
        names: Sequence[NodeName],
        nodes: Mapping[NodeName, NodeUsage],
        *,
        alone: frozenset[NodeName] = frozenset(),
    ) -> Findings:
        """Evaluate candidates; ``alone`` are nodes whose card ids the pod names: they are like no other."""
        single = tuple(dict.fromkeys(names))
        usages = list(map(nodes.get, single))
        table = self._table(self._signature(ask))
        before = len(table)
        outcomes = [UNREGISTERED if usage is None else table.get(usage.shape) for usage in usages]
        if alone or None in outcomes:
            outcomes = [
                known
                if usage is None
                else self._known_or_miss(ask, usage, table, is_alone=usage.name in alone)
                for usage, known in zip(usages, outcomes, strict=True)
            ]
        self._kept += len(table) - before
        self._trim(table)
        return Findings(single, cast(list[Outcome], outcomes), policy=ask.node_policy)

    def _known_or_miss(self, ask: Ask, node: NodeUsage, table: Table, *, is_alone: bool) -> Outcome:
        """Look once more, since an equal node may have come just before; else work the outcome out."""
        known = None if is_alone else table.get(node.shape)
        if known is not None:
            return known
        self.work.misses += 1
        outcome = predicate(ask, node)
        if is_alone or node.shape == NO_SHAPE or not outcome.is_shared:
            return outcome
        kept = Outcome(None if outcome.devices is None else {}, outcome.score, outcome.reason)
        table[node.shape] = kept
        return kept

    def _signature(self, ask: Ask) -> Hashable:
        """Return everything besides the node that an outcome depends on."""
        pod = ask.pod
        limited = tuple(
            (resource, entry.used, entry.limit)
            for resource, entry in sorted(ask.quota.entries.items())
            if entry.limit is not None
        )
        told = tuple(sorted((k, v) for k, v in pod.annotations.items() if k not in self._own_keys))
        return (
            tuple(tuple(requests.items()) for requests in ask.requests),
            tuple(container.restarts_always for container in pod.init_containers),
            told,
            ask.node_policy,
            ask.card_policy,
            ask.weights,
            limited,
        )

    def _table(self, signature: Hashable) -> Table:
        table = self._tables.get(signature)
        if table is None:
            table = self._tables[signature] = {}
        self._tables.move_to_end(signature)
        return table

    def _trim(self, newest: Table) -> None:
        """Drop the requests that were not asked for longest; the one at hand stays."""
        while len(self._tables) > REQUESTS_KEPT or (self._kept > OUTCOMES_KEPT and len(self._tables) > 1):
            _, dropped = self._tables.popitem(last=False)
            self._kept -= len(dropped)
        if self._kept > OUTCOMES_KEPT:
            newest.clear()
            self._kept = 0
