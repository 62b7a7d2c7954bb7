"""Simulated kubelets: a bound pod gets its cards, runs, ends; a deleted one goes (K5.3)."""

import random
from dataclasses import dataclass

from simcluster import allocation
from simcluster.api import Api
from simcluster.bindings import set_condition
from simcluster.controller import Controller
from simcluster.errors import StatusError
from simcluster.nodes import Inventory, NodeRecord
from simcluster.objects import Json, annotations, key_of, time_text
from simcluster.recorder import Note, Recorder
from simcluster.store import Entry

RUN_SECONDS = "simcluster/run-seconds"  # a pod's annotation: how long it runs, whatever the settings say
_MOST_GRACE_SECONDS = 1.0  # containers here end at once; this much is left for people to see it
_PLUGIN_RETRY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds from binding to the end of Allocate, and the range of a pod's run (None: for ever)."""

    allocate_seconds: float
    run_seconds: tuple[float, float] | None


class Kubelets(Controller):
    """All kubelets in one thread."""

    name = "kubelets"
    watches = ("nodes", "pods")

    def __init__(self, api: Api, inventory: Inventory, pace: Pace, *, seed: int) -> None:
        super().__init__(api)
        self._inventory, self._pace = inventory, pace
        self._random = random.Random(seed)  # noqa: S311  (a reproducible demo, no secret)
        self._recorder = Recorder(api, "kubelet")
        self._seen: set[str] = set()
        self._dying: set[str] = set()
        self._addresses = 0

    def changed(self, resource: str, entry: Entry) -> None:
        if resource == "nodes":
            if entry.new is None:
                self._lose_node(entry.final.body["metadata"]["name"])
            return
        pod = entry.final.body
        uid = pod["metadata"]["uid"]
        if entry.new is None:
            self._seen.discard(uid)
            self._dying.discard(uid)
        elif pod["spec"].get("nodeName"):
            self._tend(pod, uid)

    def _tend(self, pod: Json, uid: str) -> None:
        if pod["metadata"].get("deletionTimestamp") and uid not in self._dying:
            self._dying.add(uid)
            grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or 0)
            self.after(min(grace, _MOST_GRACE_SECONDS), lambda: self._remove(pod))
        if uid not in self._seen:
            self._seen.add(uid)
            if pod["status"].get("phase") == "Pending":
                self._admit(pod)
            elif pod["status"].get("phase") == "Running":
                self._end_later(pod)

    def _admit(self, pod: Json) -> None:
        record = self._inventory.get(pod["spec"]["nodeName"])
        if record is None:
            return
        self._patch(pod, _creating(pod, record))
        self.after(self._pace.allocate_seconds, lambda: self._allocate(pod, record))

    def _allocate(self, pod: Json, record: NodeRecord) -> None:
        if not self._is_current(pod):
            return
        vendor = record.vendor
        if allocation.asks_for(vendor, pod):
            if not record.plugin_up:
                self.after(_PLUGIN_RETRY_SECONDS, lambda: self._allocate(pod, record))
                return
            try:
                allocation.allocate(self.api, vendor, pod, record.name)
            except (allocation.AllocateError, StatusError) as exc:
                self._reject(pod, f"Allocate failed due to {exc}, which is unexpected")
                return
        self._run_pod(pod)

    def _run_pod(self, pod: Json) -> None:
        self._addresses += 1
        address = f"10.244.{self._addresses // 254 % 256}.{self._addresses % 254 + 1}"
        self._patch(pod, _running(self.api.get("pods", key_of(pod)), address))
        for container in pod["spec"]["containers"]:
            note = Note("Normal", "Started", f"Started container {container['name']}")
            self._recorder.about(pod, note)
        self._end_later(pod)

    def _end_later(self, pod: Json) -> None:
        own, usual = annotations(pod).get(RUN_SECONDS), self._pace.run_seconds
        if own is not None:
            self.after(float(own), lambda: self._complete(pod))
        elif usual is not None:
            self.after(self._random.uniform(*usual), lambda: self._complete(pod))

    def _complete(self, pod: Json) -> None:
        if self._is_current(pod):
            self._patch(pod, _succeeded(self.api.get("pods", key_of(pod))))

    def _reject(self, pod: Json, why: str) -> None:
        message = f"Pod was rejected: {why}"
        self._patch(pod, {"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": message})
        self._recorder.about(pod, Note("Warning", "UnexpectedAdmissionError", why))

    def _remove(self, pod: Json) -> None:
        if self._is_current(pod):
            self.api.delete("pods", key_of(pod), grace_seconds=0)

    def _lose_node(self, name: str) -> None:
        """Delete the pods of a node that is gone, as the pod garbage collector does."""
        for pod in self.api.list("pods", fields=f"spec.nodeName={name}"):
            self.api.delete("pods", key_of(pod), grace_seconds=0)

    def _is_current(self, pod: Json) -> bool:
        present = self.api.find("pods", key_of(pod))
        return present is not None and present["metadata"]["uid"] == pod["metadata"]["uid"]

    def _patch(self, pod: Json, status: Json) -> None:
        self.api.patch("pods", key_of(pod), {"status": status}, subresource="status")


def _with_conditions(pod: Json, status: str) -> list[Json]:
    body = {"status": {"conditions": list(pod["status"].get("conditions") or [])}}
    set_condition(body, {"type": "Initialized", "status": "True"})
    for kind in ("PodReadyToStartContainers", "Ready", "ContainersReady"):
        set_condition(body, {"type": kind, "status": status})
    conditions: list[Json] = body["status"]["conditions"]
    return conditions


def _states(pod: Json, state: Json, *, ready: bool) -> list[Json]:
    return [
        {"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0}
        | {"ready": ready, "started": ready, "state": state}
        for container in pod["spec"]["containers"]
    ]


def _creating(pod: Json, record: NodeRecord) -> Json:
    waiting = {"waiting": {"reason": "ContainerCreating"}}
    return {
        "phase": "Pending",
        "startTime": time_text(),
        "hostIP": record.address,
        "hostIPs": [{"ip": record.address}],
        "conditions": _with_conditions(pod, "False"),
        "containerStatuses": _states(pod, waiting, ready=False),
    }


def _running(pod: Json, address: str) -> Json:
    return {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": _with_conditions(pod, "True"),
        "containerStatuses": _states(pod, {"running": {"startedAt": time_text()}}, ready=True),
    }


def _succeeded(pod: Json) -> Json:
    ended = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": time_text()}}
    return {
        "phase": "Succeeded",
        "conditions": _with_conditions(pod, "False"),
        "containerStatuses": _states(pod, ended, ready=False),
    }
