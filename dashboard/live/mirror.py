"""The leader's state in this process: what pages, REST, snapshots and merged frames read.

The event loop applies publications; everybody reads ``Mirror.picture``, which is replaced and never changed.
So no reader needs a lock, and HTML, REST and socket show the same revision.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from dashboard.live.columns import Fleet, TopologyChange
from dashboard.live.frames import Key
from dashboard.picture.digest import Digest, Sums
from dashboard.picture.model import Picture
from scheduler_app.core.publication import NodeView, PendingPod, Publication

KEPT_DECISIONS = 200
KEPT_EVENTS = 1000
EVERYTHING = "*"

V = TypeVar("V")

Verdict = Literal["applied", "renewed", "old", "gap"]


@dataclass(slots=True)
class Change:
    """What one publication did.

    ``keys`` by topic; ``verdict`` "gap" asks for a whole picture, "renewed" is one.
    """

    verdict: Verdict
    keys: dict[str, set[Key]] = field(default_factory=dict)
    topology: TopologyChange | None = None

    def add(self, topic: str, keys: Iterable[Key]) -> None:
        if found := set(keys):
            self.keys.setdefault(topic, set()).update(found)


class Mirror:
    """Changed by the event loop only."""

    def __init__(self) -> None:
        self.picture = Picture()
        self._fleet = Fleet()

    def apply(self, publication: Publication, *, now_ms: int) -> Change:
        """Take a publication that follows on what is here, or a whole one; say what changed.

        A publication of another epoch that is older than what is here comes from a deposed leader and is left
        out.
        """
        old = self.picture
        if publication.epoch != old.epoch:
            if publication.at_ms < old.at_ms:
                return Change("old")
            return self._renew(publication, now_ms) if publication.is_whole else Change("gap")
        if publication.revision < old.revision or (
            publication.revision == old.revision and publication.is_whole
        ):
            return Change("old")
        if publication.base > old.revision and not publication.is_whole:
            return Change("gap")
        return self._advance(publication, now_ms)

    def _renew(self, publication: Publication, now_ms: int) -> Change:
        self._fleet = Fleet()
        self.picture = Picture(epoch=publication.epoch)
        self._advance(publication, now_ms)
        return Change("renewed")

    def _advance(self, publication: Publication, now_ms: int) -> Change:
        change, old = Change("applied"), self.picture
        nodes = self._changed_nodes(publication)
        gone = self._gone_nodes(publication)
        cells, node_states, change.topology = self._fleet.apply(nodes, gone)
        change.add("fleet", cells)
        change.add("fleet", (-1 - node for node in node_states))
        self._note_nodes(change, [node.name for node in nodes] + gone)
        digests = {node.name: Digest.of(node) for node in nodes}
        pending = self._pending(publication, change)
        if publication.quotas is not None and tuple(publication.quotas) != old.quotas:
            change.add("quotas", (EVERYTHING,))
        if publication.decisions:
            change.add("decisions", (EVERYTHING,))
        self.picture = replace(
            old,
            revision=publication.revision,
            at_ms=publication.at_ms,
            received_ms=now_ms,
            nodes=_merged(old.nodes, {node.name: node for node in nodes}, gone),
            digests=_merged(old.digests, digests, gone),
            sums=_sums(old, digests, gone),
            pending=pending,
            quotas=old.quotas if publication.quotas is None else tuple(publication.quotas),
            decisions=(*publication.decisions, *old.decisions)[:KEPT_DECISIONS],
            events=(*reversed(publication.events), *old.events)[:KEPT_EVENTS],
            leader=publication.leader,
            sources=tuple(publication.sources),
            last_pass_ms=publication.last_pass_ms or old.last_pass_ms,
            last_pass_duration_ms=publication.last_pass_duration_ms or old.last_pass_duration_ms,
            columns=self._fleet.columns(),
            topology=self._fleet.topology(),
        )
        return change

    def _changed_nodes(self, publication: Publication) -> list[NodeView]:
        known = self.picture.nodes
        return [node for node in publication.nodes if known.get(node.name) != node]

    def _gone_nodes(self, publication: Publication) -> list[str]:
        known = self.picture.nodes
        if publication.is_whole:
            there = {node.name for node in publication.nodes}
            return [name for name in known if name not in there]
        return [name for name in publication.gone if name in known]

    def _note_nodes(self, change: Change, names: list[str]) -> None:
        change.add("nodes", names)
        for name in names:
            change.add(f"node:{name}", (EVERYTHING,))

    def _pending(self, publication: Publication, change: Change) -> dict[str, PendingPod]:
        old = self.picture.pending
        put = {pod.uid: pod for pod in publication.pending_put}
        gone = [uid for uid in (old if publication.is_whole else publication.pending_del) if uid not in put]
        changed = [uid for uid, pod in put.items() if old.get(uid) != pod] + [
            uid for uid in gone if uid in old
        ]
        change.add("pending", changed)
        for uid in changed:
            pods = (old.get(uid), put.get(uid))
            for namespace in {pod.namespace for pod in pods if pod}:
                change.add(f"ns:{namespace}", (uid,))
        return _merged(old, put, gone)


def _merged(old: Mapping[str, V], put: Mapping[str, V], gone: Iterable[str]) -> dict[str, V]:
    """Return a new table: old rows keep their order, new ones follow."""
    new = {**old, **put}
    for key in gone:
        new.pop(key, None)
    return new


def _sums(old: Picture, put: Mapping[str, Digest], gone: Iterable[str]) -> dict[str, Sums]:
    """Return the sums by model after taking changed nodes out and putting their new values in."""
    sums = dict(old.sums)
    for name in {*put, *gone}:
        if before := old.digests.get(name):
            for model, value in before.models.items():
                sums[model] = sums[model].minus(value)
        if after := put.get(name):
            for model, value in after.models.items():
                sums[model] = sums.get(model, Sums()).plus(value)
    return {model: value for model, value in sums.items() if value.gpus}
