"""A simulated kube-scheduler: serial scheduling cycles, concurrent binds, one extender (K1.3, K1.4)."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from simcluster.api import Api
from simcluster.bindings import set_condition
from simcluster.callers import Caller
from simcluster.controller import Controller
from simcluster.errors import StatusError
from simcluster.extenderclient import ExtenderClient, ExtenderError
from simcluster.fitting import NodeState, request_of, resources_named, why_not
from simcluster.objects import Json
from simcluster.podqueue import PodQueue, Waiting
from simcluster.recorder import Note, Recorder
from simcluster.store import Entry

logger = logging.getLogger(__name__)

_BINDERS = 600  # kube-scheduler binds each pod in a goroutine of its own, without a limit
_SHORTEST_WAIT_SECONDS = 0.02
_NO_PREEMPTION = (
    "preemption: 0/{count} nodes are available: {count} Preemption is not helpful for scheduling."
)
_FINISHED = ("Succeeded", "Failed")


class KubeScheduler(Controller):
    """Schedules the pods of one scheduler name; pods that name no managed resource are bound by itself."""

    name = "kubescheduler"
    watches = ("nodes", "pods")

    def __init__(
        self, api: Api, *, scheduler_name: str, extender_url: str, managed: Callable[[], frozenset[str]]
    ) -> None:
        """Managed returns the resource names of ``managedResources``, all ignoredByScheduler (K1.2-7)."""
        super().__init__(api)
        self._scheduler_name, self._managed = scheduler_name, managed
        self._caller = Caller()
        self._extender = ExtenderClient(extender_url, self._caller)
        self._recorder = Recorder(api, scheduler_name)
        self._queue = PodQueue()
        self._nodes: dict[str, NodeState] = {}
        self._places: dict[str, str] = {}
        self._cycle_wanted = False
        self._woken_at: float | None = None
        self._binders = ThreadPoolExecutor(_BINDERS, thread_name_prefix="simcluster-bind")

    def stop(self) -> None:
        super().stop()
        self._caller.close()

    def join(self) -> None:
        super().join()
        self._binders.shutdown(wait=True, cancel_futures=True)

    def changed(self, resource: str, entry: Entry) -> None:
        """Update the cache and the queue; every event lets parked pods try again (K1.4-15)."""
        if resource == "nodes":
            self._node_changed(entry)
        else:
            self._pod_changed(entry)
        self._want_cycle()

    def _node_changed(self, entry: Entry) -> None:
        name = entry.final.body["metadata"]["name"]
        if entry.new is None:
            self._nodes.pop(name, None)
            return
        known = self._nodes.get(name)
        if known:
            known.body = entry.new.body
        else:
            self._nodes[name] = NodeState(entry.new.body)
        self._queue.cluster_changed()

    def _pod_changed(self, entry: Entry) -> None:
        pod = entry.final.body
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        finished = entry.new is None or (pod.get("status") or {}).get("phase") in _FINISHED
        if finished:
            self._forget(uid)
        elif node:
            self._assume(pod, node)
        if finished or node:
            self._queue.drop(uid)
            self._queue.cluster_changed()
        elif pod["spec"].get("schedulerName") == self._scheduler_name:
            if pod["metadata"].get("deletionTimestamp"):
                self._queue.drop(uid)
            else:
                self._queue.add(pod)

    def _want_cycle(self) -> None:
        if not self._cycle_wanted:
            self._cycle_wanted = True
            self.soon(self._cycle)

    def _cycle(self) -> None:
        """Try one pod, so that changes are seen between two; come back while there is another."""
        self._cycle_wanted = False
        waiting = self._queue.pop()
        if waiting:
            pod = self.api.find("pods", waiting.key)
            if pod and pod["metadata"]["uid"] == waiting.uid and not pod["spec"].get("nodeName"):
                self._schedule(pod, waiting)
            else:
                self._queue.drop(waiting.uid)
            self._want_cycle()
            return
        self._wake_later()

    def _wake_later(self) -> None:
        """Set a timer for the next pod that becomes ready by time alone, unless an earlier one is set."""
        seconds = self._queue.next_seconds()
        if seconds is None:
            return
        moment = time.monotonic() + max(seconds, _SHORTEST_WAIT_SECONDS)
        if self._woken_at is None or moment < self._woken_at:
            self._woken_at = moment
            self.after(moment - time.monotonic(), self._wake)

    def _wake(self) -> None:
        self._woken_at = None
        self._want_cycle()

    def _schedule(self, pod: Json, waiting: Waiting) -> None:
        managed = self._managed()
        request = request_of(pod, managed)
        reasons: Counter[str] = Counter()
        feasible = []
        for name, node in self._nodes.items():
            reason = why_not(pod, request, node)
            if reason:
                reasons[reason] += 1
            else:
                feasible.append(name)
        concerned = bool(managed & resources_named(pod))
        if feasible and concerned:
            try:
                filtered = self._extender.filter(pod, feasible)
            except ExtenderError as exc:
                self._failed(pod, str(exc), reason="SchedulerError")
                return
            feasible, reasons = filtered.nodes, reasons + filtered.reasons
        if not feasible:
            self._unschedulable(pod, reasons)
            return
        node_name = min(feasible, key=lambda name: len(self._nodes[name].pods))
        self._assume(pod, node_name)
        self._binders.submit(self._bind, pod, node_name, by_extender=concerned)

    def _bind(self, pod: Json, node: str, *, by_extender: bool) -> None:
        """Bind in a binder's thread; what follows is the controller's own again."""
        try:
            if by_extender:
                self._extender.bind(pod, node)
            else:
                self.api.bind(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}", node)
        except (ExtenderError, StatusError) as exc:
            text = str(exc)
            self.soon(lambda: self._bind_failed(pod, text))
            return
        self.soon(lambda: self._bound(pod, node))

    def _bound(self, pod: Json, node: str) -> None:
        meta = pod["metadata"]
        message = f"Successfully assigned {meta['namespace']}/{meta['name']} to {node}"
        self._recorder.about(pod, Note("Normal", "Scheduled", message))

    def _bind_failed(self, pod: Json, why: str) -> None:
        """Back off, unless the binding did happen and only its answer was late (K1.4-16)."""
        meta = pod["metadata"]
        present = self.api.find("pods", f"{meta['namespace']}/{meta['name']}")
        if present is None or present["spec"].get("nodeName"):
            return
        self._forget(meta["uid"])
        self._failed(pod, why, reason="SchedulerError")

    def _failed(self, pod: Json, why: str, *, reason: str) -> None:
        logger.info("pod not scheduled pod=%s reason=%s why=%s", pod["metadata"]["name"], reason, why)
        self._queue.back_off(pod["metadata"]["uid"])
        self._tell(pod, why, reason)

    def _unschedulable(self, pod: Json, reasons: Counter[str]) -> None:
        count = len(self._nodes)
        if count:
            clauses = sorted(f"{number} {text}" for text, number in reasons.items())
            text = (
                f"0/{count} nodes are available: {', '.join(clauses)}. "
                if clauses
                else (f"0/{count} nodes are available. ")
            )
            text += _NO_PREEMPTION.format(count=count)
        else:
            text = "no nodes available to schedule pods"
        self._queue.park(pod["metadata"]["uid"])
        self._tell(pod, text, "Unschedulable")

    def _tell(self, pod: Json, message: str, reason: str) -> None:
        self._recorder.about(pod, Note("Warning", "FailedScheduling", message))
        body = {"status": {"conditions": list((pod.get("status") or {}).get("conditions") or [])}}
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        set_condition(body, condition)
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        self.api.patch("pods", key, body, subresource="status")

    def _assume(self, pod: Json, node: str) -> None:
        uid = pod["metadata"]["uid"]
        if self._places.get(uid) == node:
            return
        self._forget(uid)
        if node in self._nodes:
            self._nodes[node].put(uid, request_of(pod, self._managed()))
            self._places[uid] = node

    def _forget(self, uid: str) -> None:
        node = self._nodes.get(self._places.pop(uid, ""))
        if node:
            node.take(uid)
