"""The remembering evaluator: a request's outcome is worked out once for each distinct node state.

It answers exactly as ``evaluation.evaluate`` does, which stays the readable truth; a property test holds both
equal. Missing outcomes are worked out without any lock: shapes never change their meaning.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter

from scheduler_app.core.findings import Findings
from scheduler_app.core.predicate import Ask, Outcome, predicate
from scheduler_app.core.types import Node, NodeName, NodeUsage
from scheduler_app.engine.evaluation import UNREGISTERED
from scheduler_app.engine.shapetable import NO_SHAPE

KUBERNETES = "kubernetes.io"  # the domain of annotations that only Kubernetes itself gives a meaning
REQUESTS_KEPT = 256
OUTCOMES_KEPT = 200_000

MANY = 100  # names from which on texts are shared
FEW = 4  # shapes that are looked up one by one rather than by going through all names
ABSENT = NodeUsage(Node(NodeName("")), 0, (), shape=NO_SHAPE - 1)  # stands for names that are not registered

Key = int | NodeName
"""A shape, or the name of a node that is like no other."""

Table = dict[Key, Outcome]
_shape_of = attrgetter("shape")


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
        nodes: Mapping[NodeName, NodeUsage],
        *,
        alone: frozenset[NodeName] = frozenset(),
    ) -> Findings:
        """Evaluate candidates; ``alone`` are nodes whose card ids the pod names: they are like no other.

        What is done for each name is done by built-in functions, since there may be thousands.
        """
        single = tuple(dict.fromkeys(self._own_texts(names, nodes)))
        self.work.candidates += len(single)
        keys: list[Key] = list(map(_shape_of, map(nodes.get, single, repeat(ABSENT))))
        if alone or NO_SHAPE in keys:
            keys = [
                name if key == NO_SHAPE or (name in alone and name in nodes) else key
                for name, key in zip(single, keys, strict=True)
            ]
        table = self._table(self._signature(ask))
        outcomes = self._outcomes(ask, table, keys, single, nodes)
        self._trim(table)
        return Findings(single, tuple(keys), outcomes, policy=ask.node_policy)

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

    def _outcomes(
        self,
        ask: Ask,
        table: Table,
        keys: list[Key],
        names: Sequence[NodeName],
        nodes: Mapping[NodeName, NodeUsage],
    ) -> dict[Hashable, Outcome]:
        """Return the outcome of each key, working out what is missing on a node that has the key.

        Nodes of one shape whose outcome is not shared get keys of their own in ``keys``: their names.
        """
        distinct = set(keys)
        outcomes: dict[Hashable, Outcome] = {key: table[key] for key in distinct if key in table}
        if ABSENT.shape in distinct:
            outcomes[ABSENT.shape] = UNREGISTERED
        unshared: set[Key] = set()
        for key, name in _examples(distinct.difference(outcomes), keys, names):
            outcome = outcomes[key] = self._work_out(ask, nodes[name])
            if isinstance(key, int) and outcome.is_shared:
                table[key] = Outcome(None if outcome.devices is None else {}, outcome.score, outcome.reason)
                self._kept += 1
            elif isinstance(key, int):
                unshared.add(key)
        for place in [place for place, key in enumerate(keys) if key in unshared] if unshared else ():
            name = keys[place] = names[place]
            outcomes[name] = self._work_out(ask, nodes[name])
        for key in unshared:
            del outcomes[key]
        return outcomes

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


def _examples(
    wanted: set[Key], keys: Sequence[Key], names: Sequence[NodeName]
) -> Iterable[tuple[Key, NodeName]]:
    """Return, for each wanted key, a name that has it."""
    if len(wanted) <= FEW:
        return [(key, names[keys.index(key)]) for key in wanted]
    by_key = dict(zip(keys, names, strict=True))
    return [(key, by_key[key]) for key in wanted]
