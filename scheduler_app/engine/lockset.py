"""All node locks one pod needs, taken and given back together (B-5, B-8, Q-18)."""

import logging
from collections.abc import Sequence

from scheduler_app.core.backend import DeviceBackend, NodeLock
from scheduler_app.core.errors import HamiError
from scheduler_app.core.ports import NodeLocks
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import Node, NodeName, Pod

logger = logging.getLogger(__name__)


class LockSet:
    def __init__(self, backends: Backends, *, locks: NodeLocks) -> None:
        self._locking = [
            (backend, lock) for _, backend in sorted(backends.items()) if (lock := backend.node_lock)
        ]
        self._locks = locks

    def wanted(self, pod: Pod) -> list[NodeLock]:
        """Return the locks of the vendors the pod asks for cards, in any container (VA-8, Q-17)."""
        return [lock for backend, lock in self._locking if _asks(backend, pod)]

    def acquire(self, wanted: Sequence[NodeLock], *, node: Node, pod: Pod) -> list[NodeLock]:
        """Lock in ascending vendor order and return what this call took.

        On the first error what was taken is given back, in reverse (Q-18).

        Raises:
            HamiError: that error.
        """
        taken: list[NodeLock] = []
        try:
            for lock in wanted:
                if self._locks.acquire(lock, node=node, pod=pod):
                    taken.append(lock)
        except HamiError:
            self.release(taken, node=node.name, pod=pod)
            raise
        return taken

    def release(self, taken: Sequence[NodeLock], *, node: NodeName, pod: Pod) -> None:
        """Give locks back, the last one first; what cannot be given back is logged."""
        for lock in reversed(taken):
            try:
                self._locks.release(lock, node=node, pod=pod)
            except HamiError as exc:
                logger.warning("lock not released node=%s pod=%s error=%s", node, pod.key, exc)


def _asks(backend: DeviceBackend, pod: Pod) -> bool:
    requests = (backend.request(container) for container in pod.all_containers)
    return any(request is not None and request.cards > 0 for request in requests)
