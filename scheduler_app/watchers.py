"""What happens when the watch tells of a change: handlers hand it to whoever keeps it, and never wait."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from scheduler_app.core.errors import CodecError
from scheduler_app.core.ports import EventSink
from scheduler_app.core.types import Lease, Node, NodeName, Pod, PodUid, ResourceQuota
from scheduler_app.engine import notices
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.leadership import Leadership
from scheduler_app.engine.pending import PendingBoard
from scheduler_app.engine.turns import NodeTurns

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class PodWatcher:
    """Keeps accounting and the board in step with pods (M-9 to M-11).

    ``is_there`` says whether the informer holds a pod. Decisions tell of pods that the watch has not shown
    yet; one that came and went in a gap of the watch would count for ever, so a list is compared with them.
    """

    state: ClusterState
    board: PendingBoard
    turns: NodeTurns
    events: EventSink
    is_there: Callable[[PodUid], bool]
    _known: frozenset[PodUid] = frozenset()

    def listing(self) -> None:
        counted = {entry.pod.uid for entry in self.state.pods()}
        self._known = frozenset(counted | {PodUid(pod.uid) for pod in self.board.waiting()})

    def added(self, new: Pod) -> None:
        self._seen(new)

    def updated(self, old: Pod, new: Pod) -> None:
        self._seen(new)

    def deleted(self, last: Pod) -> None:
        entry = self.state.pod(last.uid)
        self.state.lose_pod(last.uid)
        self.board.gone(last.uid)
        node = entry.node if entry else last.node_name
        if node:
            self.turns.node_changed(NodeName(node))  # it may have held the node's lock (B-11)

    def replaced(self) -> None:
        """Forget the pods that decisions told of and that nobody will ever tell the end of."""
        for uid in self._known:
            if not self.is_there(uid):
                self.state.lose_pod(uid)
                self.board.gone(uid)
        self._known = frozenset()

    def _seen(self, pod: Pod) -> None:
        try:
            self.state.see_pod(pod)
        except CodecError as exc:
            logger.warning("pod skipped pod=%s error=%s", pod.key, exc)
            message = f"device annotations cannot be read, the pod is not counted: {exc}"
            self.events.pod_event(pod, type=notices.WARNING, reason="AnnotationInvalid", message=message)
        self.board.seen(pod)


@dataclass(slots=True)
class NodeWatcher:
    """Keeps registered nodes fresh (Q-3) and asks for a pass when one comes or changes what it advertises."""

    state: ClusterState
    turns: NodeTurns
    gone: Callable[[NodeName], None]
    changed: Callable[[NodeName], None]
    wake: Callable[[], None]

    def listing(self) -> None:
        """The watch alone tells of these; there is nothing to compare a list with."""

    def added(self, new: Node) -> None:
        self.state.refresh_node(new)
        self.changed(new.name)
        self.wake()

    def updated(self, old: Node, new: Node) -> None:
        if old == new:
            return
        self.state.refresh_node(new)
        self.turns.node_changed(new.name)
        self.changed(new.name)
        if _advertises_otherwise(old, new):
            self.wake()

    def deleted(self, last: Node) -> None:
        self.gone(last.name)
        self.turns.node_changed(last.name)
        self.changed(last.name)
        self.wake()

    def replaced(self) -> None:
        self.wake()


def _advertises_otherwise(old: Node, new: Node) -> bool:
    """Say whether a pass may find other cards: annotations that are no lock, labels, or counts changed.

    The reference waits for its next tick; a device plugin's first registration is seen at once here.
    """
    return (
        _without_locks(old) != _without_locks(new)
        or old.labels != new.labels
        or old.capacity != new.capacity
        or old.allocatable != new.allocatable
    )


def _without_locks(node: Node) -> dict[str, str]:
    return {key: text for key, text in node.annotations.items() if not _is_chatter(key)}


def _is_chatter(key: str) -> bool:
    """Locks and handshakes change with every bind and every pass."""
    return key.endswith(".lock") or "/node-handshake" in key


@dataclass(slots=True)
class QuotaWatcher:
    state: ClusterState

    def listing(self) -> None:
        """The watch alone tells of these; there is nothing to compare a list with."""

    def added(self, new: ResourceQuota) -> None:
        self.state.see_quota(new)

    def updated(self, old: ResourceQuota, new: ResourceQuota) -> None:
        self.state.see_quota(new)

    def deleted(self, last: ResourceQuota) -> None:
        self.state.lose_quota(last)

    def replaced(self) -> None:
        """A list holds nothing that single changes did not tell."""


@dataclass(slots=True)
class LeaseWatcher:
    """Observes the lease; its reflector lists only the one of the configured name (L-3)."""

    leadership: Leadership

    def listing(self) -> None:
        """The watch alone tells of these; there is nothing to compare a list with."""

    def added(self, new: Lease) -> None:
        self.leadership.observe(new)

    def updated(self, old: Lease, new: Lease) -> None:
        self.leadership.observe(new)

    def deleted(self, last: Lease) -> None:
        self.leadership.lost()

    def replaced(self) -> None:
        """A list holds nothing that single changes did not tell."""
