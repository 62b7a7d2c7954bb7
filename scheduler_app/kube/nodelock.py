"""Node locks: one pod at a time is between its bind and the node's allocation (B-9 to B-13, MLU-30 to 32).

The lock is an annotation, so every step reads it afresh and writes against what was read; a mutex per node
keeps this process from racing with itself. Waiting for a lock that holds is the binder's business, not ours.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from scheduler_app.core.backend import NodeLock
from scheduler_app.core.types import Node, NodeName, Pod
from scheduler_app.kube.client import KubeClient
from scheduler_app.kube.lockboard import LockBoard, LockTiming
from scheduler_app.kube.ownedlock import OwnedLock
from scheduler_app.kube.timedlock import TimedLock

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Entry:
    """What is kept of a node: its mutex, and the locks without owner we wrote there."""

    mutex: threading.Lock = field(default_factory=threading.Lock)
    timed: dict[str, TimedLock] = field(default_factory=dict)


class ApiNodeLocks:
    """Implements ``core.ports.NodeLocks``.

    ``timeout_seconds`` is that of the shared lock (B-11). ``report`` is told of locks that cannot be read, by
    node and problem; it must not block.
    """

    def __init__(
        self,
        client: KubeClient,
        *,
        timeout_seconds: float,
        report: Callable[[NodeName, str], None] = lambda node, problem: None,
        timing: LockTiming | None = None,
    ) -> None:
        self._board = LockBoard(client, report=self._malformed)
        self._report = report
        self._timeout_seconds = timeout_seconds
        self._timing = timing or LockTiming()
        self._guard = threading.Lock()
        self._entries: dict[NodeName, _Entry] = {}

    def acquire(self, lock: NodeLock, *, node: Node, pod: Pod) -> bool:
        """Take the lock for ``pod``; False when the pod held it already.

        Raises:
            LockContentionError: another pod holds the shared lock.
            NodeLockError: a lock without owner holds, or the lock cannot be written.
            ApiError: the node, or the owner, cannot be read; as the API server says it (B-10).
        """
        entry = self._entry(node.name)
        with entry.mutex:
            if lock.has_owner:
                return self._owned(lock, node.name).acquire(pod)
            self._timed(lock, node.name, entry).acquire(node, pod)
            return True

    def release(self, lock: NodeLock, *, node: NodeName, pod: Pod) -> None:
        """Remove the lock if it is the pod's own; anybody else's stays.

        Raises:
            HamiError: it could not be removed.
        """
        entry = self._entry(node)
        with entry.mutex:
            if lock.has_owner:
                self._owned(lock, node).release(pod)
            else:
                self._timed(lock, node, entry).release(pod)

    def forget(self, node: NodeName) -> None:
        with self._guard:
            self._entries.pop(node, None)

    def _entry(self, node: NodeName) -> _Entry:
        with self._guard:
            return self._entries.setdefault(node, _Entry())

    def _owned(self, lock: NodeLock, node: NodeName) -> OwnedLock:
        return OwnedLock(
            self._board,
            node=node,
            annotation=lock.annotation,
            timeout_seconds=lock.timeout_seconds or self._timeout_seconds,
            timing=self._timing,
        )

    def _timed(self, lock: NodeLock, node: NodeName, entry: _Entry) -> TimedLock:
        if lock.annotation not in entry.timed:
            entry.timed[lock.annotation] = TimedLock(
                self._board,
                node=node,
                annotation=lock.annotation,
                timeout_seconds=lock.timeout_seconds or self._timeout_seconds,
                timing=self._timing,
            )
        return entry.timed[lock.annotation]

    def _malformed(self, node: NodeName, problem: str) -> None:
        logger.warning("malformed lock node=%s problem=%s", node, problem)
        self._report(node, problem)
