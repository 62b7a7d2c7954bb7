"""``/bind``: node locks, the bind phase, the Binding (rules B-1 to B-8), and turns on a node.

kube-scheduler repeats a bind whose answer it did not wait for, on the same node or, after another
``/filter``, on another one. So the calls of one pod run one at a time, a pod that is bound is left alone, and
a decision cannot change between the check that it stands and the Binding (``claims``).
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from scheduler_app.core import annotations
from scheduler_app.core import text as texts
from scheduler_app.core.backend import NodeLock
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import BindOutcome
from scheduler_app.core.duration import format_seconds
from scheduler_app.core.errors import HamiError, LockContentionError
from scheduler_app.core.ports import DecisionLog, EventSink, NodeLister, NodeLocks, PodLister, PodWriter
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import Node, NodeName, Pod, PodUid
from scheduler_app.engine import notices
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.lockset import LockSet
from scheduler_app.engine.podbook import PodEntry, is_still
from scheduler_app.engine.turns import NodeTurns

logger = logging.getLogger(__name__)
RETRY_SECONDS = 0.1
CONTENTION = "node lock contention"


class BindError(HamiError):
    """The bind failed; the text is the answer's ``Error``."""


class PodGoneError(BindError):
    """The pod was deleted; there is nothing left to tell an Event of (B-1)."""


class NodeGoneError(BindError):
    """There is no such node (B-2)."""


class AlreadyBoundError(BindError):
    """The pod is bound to ``node``; bound to the one that is asked for, it is what the caller wants."""

    def __init__(self, pod: Pod) -> None:
        self.node = pod.node_name
        super().__init__(f"pod {texts.quote(pod.name)} is already bound to node {texts.quote(self.node)}")


@dataclass(frozen=True, slots=True)
class BindPorts:
    """What binding needs from outside."""

    pods: PodLister
    nodes: NodeLister
    locks: NodeLocks
    writer: PodWriter
    events: EventSink
    log: DecisionLog


@dataclass(frozen=True, slots=True)
class _Call:
    """One bind under way: the pod, where it is to go, and what it held when the call began."""

    pod: Pod
    node: Node
    since: PodEntry | None


class Binder:
    """Called by request threads; ``turns.stop`` ends waiting binds when the process ends."""

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
        self._state = state
        self._ports = ports
        self._locks = LockSet(backends, locks=ports.locks)
        self._turns = turns
        self._calls = NodeTurns()  # by pod
        self._config = config
        self._clock = clock

    @property
    def repeats_waiting(self) -> int:
        """How many calls wait for an earlier one for the same pod."""
        return self._calls.waiting_behind

    def bind(self, *, namespace: str, name: str, uid: str, node: NodeName) -> BindOutcome:
        """Bind a pod; every failure is told in the outcome's ``error`` and never raised (H-15)."""
        started = self._clock()
        error = ""
        try:
            self._in_order(namespace, name, uid, node)
        except HamiError as exc:
            error = str(exc)
        outcome = BindOutcome(
            namespace, name, uid, node, error, int(started * 1000), (self._clock() - started) * 1000
        )
        self._ports.log.record_bind(outcome)
        logger.info("bound pod=%s/%s node=%s error=%s", namespace, name, node, error or "-")
        return outcome

    def _in_order(self, namespace: str, name: str, uid: str, node: NodeName) -> None:
        """Bind once the calls for this pod that came before have ended; those for another node end now."""
        key = f"{namespace}/{name}"
        self._turns.end_others(key, than=node)
        patience = max(self._config.bind_wait_seconds, self._config.node_lock_retry_seconds)
        with self._calls.queue(key, patience) as turn:
            if not turn.has_come:
                raise BindError(f"an earlier bind of pod {texts.quote(name)} has not ended yet")
            pod = self._ports.pods.get(namespace, name)
            if pod is None:
                raise self._gone(name, PodUid(uid))
            try:
                self._bind(self._call(pod, node), uid)
            except PodGoneError:
                raise
            except HamiError as exc:
                if isinstance(exc, AlreadyBoundError) and exc.node == node:
                    return  # a repeat: nothing is left to do
                is_node_gone = isinstance(exc, NodeGoneError)
                self._event(pod, f"failed to get node {node}" if is_node_gone else str(exc))
                raise

    def _call(self, pod: Pod, node_name: NodeName) -> _Call:
        """Look at pod and node before anything is written (B-2).

        Raises:
            AlreadyBoundError: there is nothing to do, or nothing to be done.
            BindError: there is no such node, or the decision names another one.
        """
        _raise_if_bound(pod)
        node = self._ports.nodes.get(node_name)
        if node is None:
            self._state.give_up_pod(pod, taken=self._state.take_pod(pod.uid))
            raise NodeGoneError(f"node {texts.quote(node_name)} not found")
        since = self._state.pod(pod.uid)
        if since is None or not since.is_ours or self._state.bound_to(pod.uid):
            pod = self._afresh(pod)
        placed = since.node if since and since.is_ours else pod.annotations.get(annotations.ASSIGNED_NODE)
        if placed and placed != node_name:
            raise BindError(f"pod {texts.quote(pod.name)} is placed on node {texts.quote(placed)}")
        return _Call(pod, node, since)

    def _afresh(self, pod: Pod) -> Pod:
        """Read a pod of which our copy may be old: another replica decided, or we bound it a moment ago."""
        fresh = self._ports.writer.get_pod(pod)
        if fresh is None or fresh.uid != pod.uid:
            raise self._gone(pod.name, pod.uid)
        _raise_if_bound(fresh)
        return fresh

    def _bind(self, call: _Call, uid: str) -> None:
        """Lock, mark the phase, create the Binding; a failure gives back what this call took (B-3, B-4)."""
        pod, node = call.pod, call.node.name
        bind_time = str(int(self._clock()))
        taken, is_bound = self._lock(call), False
        try:
            if not self._state.claim_pod(pod.uid, node=node, since=call.since):
                raise _moved(pod)
            phase = {annotations.BIND_PHASE: annotations.PHASE_ALLOCATING, annotations.BIND_TIME: bind_time}
            self._ports.writer.patch_pod(pod, annotations=phase)
            self._send(pod, uid, node)
            is_bound = True
        finally:
            self._state.settle_pod(pod.uid, is_bound=is_bound)
            if not is_bound:
                self._locks.release(taken, node=node, pod=pod)
        text = f"Successfully binding node [{node}] to {pod.key}"
        self._ports.events.pod_event(pod, type=notices.NORMAL, reason=notices.BINDING_SUCCEED, message=text)

    def _send(self, pod: Pod, uid: str, node: NodeName) -> None:
        """Create the Binding; of an error the pod itself says whether it was bound all the same (I19)."""
        try:
            self._ports.writer.bind(namespace=pod.namespace, name=pod.name, uid=uid, node=node)
        except HamiError:
            if not self._is_bound(pod, node):
                raise

    def _is_bound(self, pod: Pod, node: NodeName) -> bool:
        try:
            found = self._ports.writer.get_pod(pod)
        except HamiError:
            return False
        return found is not None and found.uid == pod.uid and found.node_name == node

    def _lock(self, call: _Call) -> list[NodeLock]:
        """Take every vendor's lock the pod needs and return those that this call took (B-3, B-5)."""
        wanted = self._locks.wanted(call.pod)
        return self._lock_in_turn(wanted, call) if wanted else []

    def _lock_in_turn(self, wanted: list[NodeLock], call: _Call) -> list[NodeLock]:
        """Wait for the turn on the node, then for the lock, no longer than allowed; then take it or fail."""
        pod, node = call.pod, call.node
        is_group, patience = bool(pod.pod_group), self._config.bind_wait_seconds
        retry = self._config.node_lock_retry_seconds if is_group else 0.0
        with self._turns.queue(node.name, max(patience, retry), owner=pod.key) as turn:
            while True:
                self._check(call)  # waiting takes time, and what is gone needs no lock
                try:
                    return self._locks.acquire(wanted, node=node, pod=pod)
                except LockContentionError:
                    poll = RETRY_SECONDS if retry > 0 else None
                    if not turn.wait(poll_seconds=poll):
                        self._check(call)  # the wait may have been ended since the pod goes elsewhere
                        self._turns.raise_if_stopped(is_group, CONTENTION)
                        if retry > 0:
                            raise BindError(_timed_out(retry, node.name)) from None
                        raise
                    node = self._ports.nodes.get(node.name) or node

    def _check(self, call: _Call) -> None:
        """Look again at a pod whose bind has waited."""
        pod = call.pod
        now = self._ports.pods.get(pod.namespace, pod.name)
        if now is None or now.uid != pod.uid:
            raise self._gone(pod.name, pod.uid)
        _raise_if_bound(now)
        if not is_still(call.since, self._state.pod(pod.uid), node=call.node.name):
            raise _moved(pod)

    def _gone(self, name: str, uid: PodUid) -> PodGoneError:
        """Give back what a deleted pod had reserved (B-1)."""
        self._state.miss_pod(uid)
        return PodGoneError(f"pod {texts.quote(name)} not found")

    def _event(self, pod: Pod, message: str) -> None:
        self._ports.events.pod_event(
            pod, type=notices.WARNING, reason=notices.BINDING_FAILED, message=message
        )


def _raise_if_bound(pod: Pod) -> None:
    if pod.node_name:
        raise AlreadyBoundError(pod)


def _moved(pod: Pod) -> BindError:
    return BindError(
        f"pod {texts.quote(pod.name)} is being placed anew: this decision does not stand any more"
    )


def _timed_out(seconds: float, node: NodeName) -> str:
    return f"timed out after {format_seconds(seconds)} waiting for node {node} to be unlocked: {CONTENTION}"
