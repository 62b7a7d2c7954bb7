"""``/bind``: node locks, the bind phase, the Binding (rules B-1 to B-8), and turns on a node."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from scheduler_app.core import annotations
from scheduler_app.core import text as texts
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import BindOutcome
from scheduler_app.core.duration import format_seconds
from scheduler_app.core.errors import HamiError, LockContentionError
from scheduler_app.core.ports import DecisionLog, EventSink, NodeLister, NodeLocks, PodLister, PodWriter
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import Node, NodeName, Pod, PodUid
from scheduler_app.engine import notices
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.turns import NodeTurns

logger = logging.getLogger(__name__)
RETRY_SECONDS = 0.1
CONTENTION = "node lock contention"


class BindError(HamiError):
    """The bind failed; the text is the answer's ``Error``."""


class PodGoneError(BindError):
    """The pod was deleted; there is nothing left to tell an Event of (B-1)."""


@dataclass(frozen=True, slots=True)
class BindPorts:
    """What binding needs from outside."""

    pods: PodLister
    nodes: NodeLister
    locks: NodeLocks
    writer: PodWriter
    events: EventSink
    log: DecisionLog


class Binder:
    """Called by request threads; ``stop`` ends waiting binds when the process ends."""

    def __init__(
        self,
        *,
        backends: Backends,
        state: ClusterState,
        ports: BindPorts,
        turns: NodeTurns,
        config: SchedulerConfig,
        clock: Callable[[], float],
    ) -> None:
        self._backends = dict(sorted(backends.items()))
        self._state = state
        self._ports = ports
        self._turns = turns
        self._config = config
        self._clock = clock

    def bind(self, *, namespace: str, name: str, uid: str, node: NodeName) -> BindOutcome:
        """Bind a pod; every failure is told in the outcome's ``error`` and never raised (H-15)."""
        started = self._clock()
        error = ""
        try:
            self._bind(namespace, name, uid, node)
        except HamiError as exc:
            error = str(exc)
        outcome = BindOutcome(
            namespace, name, uid, node, error, int(started * 1000), (self._clock() - started) * 1000
        )
        self._ports.log.record_bind(outcome)
        logger.info("bound pod=%s/%s node=%s error=%s", namespace, name, node, error or "-")
        return outcome

    def _bind(self, namespace: str, name: str, uid: str, node_name: NodeName) -> None:
        pod = self._ports.pods.get(namespace, name)
        if pod is None:
            raise self._gone(name, PodUid(uid))
        node = self._ports.nodes.get(node_name)
        if node is None:
            self._event(pod, f"failed to get node {node_name}")
            self._state.take_pod(pod.uid)
            raise BindError(f"node {texts.quote(node_name)} not found")
        bind_time = str(int(self._clock()))
        taken, is_bound = self._lock(node, pod), False
        try:
            phase = {annotations.BIND_PHASE: annotations.PHASE_ALLOCATING, annotations.BIND_TIME: bind_time}
            self._ports.writer.patch_pod(pod, annotations=phase)
            self._ports.writer.bind(namespace=namespace, name=name, uid=uid, node=node_name)
            is_bound = True
        except HamiError as exc:
            self._event(pod, str(exc))
            raise
        finally:
            if not is_bound:
                self._release(taken, node_name, pod)
        text = f"Successfully binding node [{node_name}] to {namespace}/{name}"
        self._ports.events.pod_event(pod, type=notices.NORMAL, reason=notices.BINDING_SUCCEED, message=text)

    def _lock(self, node: Node, pod: Pod) -> list[DeviceBackend]:
        """Take every vendor's lock the pod needs and return those that this call took (B-3, B-5)."""
        wanted = [backend for backend in self._backends.values() if self._needs_lock(backend, pod)]
        if not wanted:
            return []
        try:
            return self._lock_in_turn(wanted, node, pod)
        except PodGoneError:
            raise
        except HamiError as exc:
            self._event(pod, str(exc))
            raise

    def _lock_in_turn(self, wanted: list[DeviceBackend], node: Node, pod: Pod) -> list[DeviceBackend]:
        """Wait for the turn on the node, then for the lock, no longer than allowed; then take it or fail."""
        is_group, patience = bool(pod.pod_group), self._config.bind_wait_seconds
        retry = self._config.node_lock_retry_seconds if is_group else 0.0
        with self._turns.queue(node.name, max(patience, retry)) as turn:
            while True:
                self._check_pod(pod)  # waiting takes time, and what is gone needs no lock
                try:
                    return self._lock_all(wanted, node, pod)
                except LockContentionError:
                    poll = RETRY_SECONDS if retry > 0 else None
                    if not turn.wait(poll_seconds=poll):
                        self._turns.raise_if_stopped(is_group, CONTENTION)
                        if retry > 0:
                            raise BindError(_timed_out(retry, node.name)) from None
                        raise
                    node = self._ports.nodes.get(node.name) or node

    def _check_pod(self, pod: Pod) -> None:
        now = self._ports.pods.get(pod.namespace, pod.name)
        if now is None or now.uid != pod.uid:
            raise self._gone(pod.name, pod.uid)

    def _gone(self, name: str, uid: PodUid) -> PodGoneError:
        """Give back what a deleted pod had reserved (B-1)."""
        self._state.take_pod(uid)
        return PodGoneError(f"pod {texts.quote(name)} not found")

    def _lock_all(self, wanted: list[DeviceBackend], node: Node, pod: Pod) -> list[DeviceBackend]:
        """Lock in ascending vendor order; on the first error give back what was taken, in reverse (Q-18)."""
        taken: list[DeviceBackend] = []
        try:
            for backend in wanted:
                assert backend.node_lock is not None  # noqa: S101  (wanted has only these)
                if self._ports.locks.acquire(backend.node_lock, node=node, pod=pod):
                    taken.append(backend)
        except HamiError:
            self._release(taken, node.name, pod)
            raise
        return taken

    def _release(self, taken: list[DeviceBackend], node: NodeName, pod: Pod) -> None:
        for backend in reversed(taken):
            assert backend.node_lock is not None  # noqa: S101  (taken has only these)
            try:
                self._ports.locks.release(backend.node_lock, node=node, pod=pod)
            except HamiError as exc:
                logger.warning("lock not released node=%s pod=%s error=%s", node, pod.key, exc)

    def _needs_lock(self, backend: DeviceBackend, pod: Pod) -> bool:
        """Say whether the pod asks this vendor for cards, in any container (VA-8, Q-17)."""
        if backend.node_lock is None:
            return False
        requests = (backend.request(container) for container in pod.all_containers)
        return any(request is not None and request.cards > 0 for request in requests)

    def _event(self, pod: Pod, message: str) -> None:
        self._ports.events.pod_event(
            pod, type=notices.WARNING, reason=notices.BINDING_FAILED, message=message
        )


def _timed_out(seconds: float, node: NodeName) -> str:
    return f"timed out after {format_seconds(seconds)} waiting for node {node} to be unlocked: {CONTENTION}"
