"""The remembering evaluator: a request's outcome is worked out once for each distinct node state.

It answers exactly as ``evaluation.evaluate`` does, which stays the readable truth; a property test holds both equal.
Missing outcomes are worked out without any lock: shapes never change their meaning.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from scheduler_app.core import reasons
from scheduler_app.core.predicate import Ask, Outcome, predicate
from scheduler_app.core.types import NodeName, NodeUsage
from scheduler_app.engine.evaluation import Evaluation, rank
from scheduler_app.engine.shapetable import NO_SHAPE

REQUESTS_KEPT = 256
OUTCOMES_KEPT = 200_000
UNREGISTERED = Outcome(None, reason=reasons.NODE_UNREGISTERED)

Table = dict[int, Outcome]


@dataclass(slots=True)
class Work:
    """What was done since the start: outcomes looked up, and worked out on the plain path."""

    hits: int = 0
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
    ) -> Evaluation:
        """Evaluate candidates; ``alone`` are nodes whose card ids the pod names, so that they are like no other."""
        table = self._table(self._signature(ask))
        outcomes: dict[NodeName, Outcome] = {}
        before = len(table)
        for name in names:
            node = nodes.get(name)
            if node is None:
                outcomes[name] = UNREGISTERED
                continue
            known = table.get(node.shape)
            outcomes[name] = self._miss(ask, node, table, alone) if known is None or name in alone else known
        self._kept += len(table) - before
        self._trim(table)
        return self._with_devices(ask, rank(ask.node_policy, outcomes), nodes)

    def _miss(self, ask: Ask, node: NodeUsage, table: Table, alone: frozenset[NodeName]) -> Outcome:
        self.work.misses += 1
        outcome = predicate(ask, node)
        if node.shape != NO_SHAPE and node.name not in alone and outcome.is_shared:
            table[node.shape] = Outcome(
                None if outcome.devices is None else {}, outcome.score, outcome.reason
            )
        return outcome

    def _with_devices(self, ask: Ask, found: Evaluation, nodes: Mapping[NodeName, NodeUsage]) -> Evaluation:
        """Fit the winner once more on its own cards: what is remembered knows no ids."""
        if not found.fitting:
            return found
        outcome = predicate(ask, nodes[found.fitting[-1][0]])
        return Evaluation(found.fitting, found.refused, outcome.devices or {})

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
