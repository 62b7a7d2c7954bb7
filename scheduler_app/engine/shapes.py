"""The remembering evaluator: a request's outcome is worked out once for each distinct node state.

It answers exactly as ``evaluation.evaluate`` does, which stays the readable truth; a property test holds both
equal. Missing outcomes are worked out without any lock: shapes never change their meaning.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, repeat
from operator import eq

from scheduler_app.core.findings import Findings, rank
from scheduler_app.core.predicate import Ask, Outcome, predicate
from scheduler_app.core.types import NodeName, NodeUsage
from scheduler_app.engine.evaluation import UNREGISTERED
from scheduler_app.engine.nodebook import Snapshot
from scheduler_app.engine.shapetable import NO_SHAPE

KUBERNETES = "kubernetes.io"  # the domain of annotations that only Kubernetes itself gives a meaning
REQUESTS_KEPT = 256
OUTCOMES_KEPT = 200_000

MISSING = float("inf")  # the rank of a key whose outcome is not known yet; scores are float32
MANY = 100  # names from which on texts are shared
ABSENT = NO_SHAPE - 1  # the key of names that are not registered

Key = int | NodeName
"""A shape, or the name of a node that is like no other."""


@dataclass(slots=True)
class Table:
    """The outcomes of one request, by key, and their ranks: what is missing in one is missing in the other.

    Findings hold on to ``outcomes`` for as long as somebody may read them, so it only grows.
    """

    policy: str
    outcomes: dict[Hashable, Outcome] = field(default_factory=dict)
    ranks: dict[Key, float] = field(default_factory=dict)

    def put(self, key: Key, outcome: Outcome) -> None:
        self.outcomes[key] = outcome
        self.ranks[key] = rank(outcome, policy=self.policy)

    def copy(self, keys: Collection[Key]) -> "Table":
        """Return a table of its own with what is known of ``keys``."""
        known = [key for key in keys if key in self.ranks]
        return Table(
            self.policy,
            {key: self.outcomes[key] for key in known},
            {key: self.ranks[key] for key in known},
        )


@dataclass(slots=True)
class Work:
    """What was done since the start: candidates looked at, and outcomes worked out on the plain path."""

    candidates: int = 0
    misses: int = 0


class ShapeMemo:
    """Called under the decision lock, by one thread at a time."""

    def __init__(self, *, own_keys: frozenset[str]) -> None:
        self._own_keys = own_keys
        self._tables: OrderedDict[Hashable, Table] = OrderedDict()
        self._kept = 0
        self._texts: dict[NodeName, NodeName] = {}
        self.work = Work()

    def evaluate(
        self,
        ask: Ask,
        names: Sequence[NodeName],
        snapshot: Snapshot,
        *,
        alone: frozenset[NodeName] = frozenset(),
    ) -> Findings:
        """Evaluate candidates; ``alone`` are nodes whose card ids the pod names: they are like no other.

        What is done for each name is done by built-in functions, since there may be thousands.
        """
        nodes = snapshot.nodes
        single = tuple(dict.fromkeys(self._own_texts(names, nodes)))
        keys: list[Key] = list(map(snapshot.shapes.get, single, repeat(ABSENT)))
        self.work.candidates += len(single)
        if alone or NO_SHAPE in keys:
            keys = [
                name if key == NO_SHAPE or (name in alone and name in nodes) else key
                for name, key in zip(single, keys, strict=True)
            ]
        table = self._table(ask)
        ranks = list(map(table.ranks.get, keys, repeat(MISSING)))
        if MISSING in ranks:
            places = list(compress(range(len(ranks)), map(eq, ranks, repeat(MISSING))))
            table = self._completed(ask, table, keys, names=single, nodes=nodes, places=places)
            for place in places:
                ranks[place] = table.ranks[keys[place]]
        self._trim()
        return Findings(single, tuple(keys), table.outcomes, ranks=ranks, policy=ask.node_policy)

    def _own_texts(
        self, names: Sequence[NodeName], nodes: Mapping[NodeName, NodeUsage]
    ) -> Iterable[NodeName]:
        """Return the names as one text a node, shared by all calls.

        Hundreds of decisions wait for the event and history threads; each would keep thousands of texts alive
        that came with its request. Tuples of such texts and of numbers are also no work for the collector.
        """
        if len(names) < MANY:
            return names
        if len(self._texts) != len(nodes):
            self._texts = dict(zip(nodes, nodes, strict=True))
        return map(self._texts.get, names, names)

    def _completed(
        self,
        ask: Ask,
        table: Table,
        keys: list[Key],
        *,
        names: Sequence[NodeName],
        nodes: Mapping[NodeName, NodeUsage],
        places: Sequence[int],
    ) -> Table:
        """Work out what is missing at ``places``, each key on a node that has it; return a table with all.

        Nodes of one shape whose outcome is not shared get keys of their own in ``keys``: their names. What
        belongs to a name is not remembered, so such calls get a table of their own.
        """
        unshared: dict[Key, Outcome] = {}
        for key, name in {keys[place]: names[place] for place in places}.items():
            outcome = self._work_out(ask, nodes[name])
            if isinstance(key, int) and outcome.is_shared:
                table.put(key, replace(outcome, devices=None if outcome.devices is None else {}))
                self._kept += 1
            else:
                unshared[key] = outcome
        if not unshared:
            return table
        own = table.copy(set(keys))
        for place in places:
            if (key := keys[place]) in unshared:
                name = keys[place] = names[place]
                own.put(name, unshared[key] if key == name else self._work_out(ask, nodes[name]))
        return own

    def _work_out(self, ask: Ask, node: NodeUsage) -> Outcome:
        self.work.misses += 1
        return predicate(ask, node)

    def _signature(self, ask: Ask) -> Hashable:
        """Return everything besides the node that an outcome depends on."""
        pod = ask.pod
        limited = tuple(
            (resource, entry.used, entry.limit)
            for resource, entry in sorted(ask.quota.entries.items())
            if entry.limit is not None
        )
        told = tuple(sorted((k, v) for k, v in pod.annotations.items() if self._matters(k)))
        return (
            tuple(tuple(requests.items()) for requests in ask.requests),
            tuple(container.restarts_always for container in pod.init_containers),
            told,
            ask.node_policy,
            ask.card_policy,
            ask.weights,
            limited,
        )

    def _matters(self, key: str) -> bool:
        """Say whether a vendor may read an annotation: not our own words, nor Kubernetes' own.

        The index that a Job gives each of its pods would make each of them a request of its own.
        """
        return key not in self._own_keys and not key.partition("/")[0].endswith(KUBERNETES)

    def _table(self, ask: Ask) -> Table:
        signature = self._signature(ask)
        table = self._tables.get(signature)
        if table is None:
            table = self._tables[signature] = Table(ask.node_policy)
            table.put(ABSENT, UNREGISTERED)
        self._tables.move_to_end(signature)
        return table

    def _trim(self) -> None:
        """Forget the requests that were not asked for longest, at last even the one at hand."""
        while len(self._tables) > REQUESTS_KEPT or self._kept > OUTCOMES_KEPT:
            _, dropped = self._tables.popitem(last=False)
            self._kept -= len(dropped.ranks) - 1  # nobody worked out that an absent node is absent
