"""What a bind must do by the decided rules, worked out beside the product.

A lock that cannot be read is void (Q-15), init containers count (Q-17), and a failed bind gives back only
what it took itself (Q-18, L08).

The recording is left for this as soon as one of the three makes a difference.
"""

import copy
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from scheduler_app.conformance.api import Fault, Key
from scheduler_app.conformance.world import World
from scheduler_app.core import annotations
from scheduler_app.core.backend import NodeLock
from scheduler_app.core.duration import format_seconds
from scheduler_app.kube import decode

Json = dict[str, Any]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
NOW = "<time>"
VERSION = "<rv>"


class Refused(Exception):  # noqa: N818  (ends the prediction with the answer's error)
    """Carries the error's text."""


@dataclass(slots=True)
class Prediction:
    """A bind's result; ``locks`` are the node's lock annotations after it."""

    error: str = ""
    writes: list[Json] = field(default_factory=list)
    locks: dict[str, str] = field(default_factory=dict)
    taken: list[NodeLock] = field(default_factory=list)


class BindRules:
    def __init__(self, world: World) -> None:
        self._world = world
        self._told: Counter[tuple[str, str]] = Counter()
        self._locks: dict[str, dict[str, str]] = {}
        self._phased: set[str] = set()
        self._before: Json = {}
        self.differ = False

    def predicted(self, body: Json) -> Prediction | None:
        """Say what a bind will do; None where the rules here do not reach: unknown objects, faulty nodes."""
        namespace, name, node = (body.get(key, "") for key in ("PodNamespace", "PodName", "Node"))
        pod = self._world.api.objects.get(("pods", namespace, name))
        stored = self._world.api.objects.get(("nodes", "", node))
        faults = copy.deepcopy(self._world.api.faults)
        if pod is None or stored is None or any(fault.raw["resource"] == "nodes" for fault in faults):
            return None
        attempt = _Attempt(self._world, pod, stored, faults)
        attempt.run(body)
        return attempt.found

    def result(self, body: Json, found: Prediction) -> Json:
        """Return what a prediction looks like from outside, the event included."""
        namespace, name, node = (body.get(key, "") for key in ("PodNamespace", "PodName", "Node"))
        message = found.error or f"Successfully binding node [{node}] to {namespace}/{name}"
        event = self._event(namespace, name, body["PodUID"], message, is_failure=bool(found.error))
        result: Json = {"status": 200, "headers": {"content-type": "application/json"}, "events": [event]}
        return {**result, "body_json": {"Error": found.error}, "writes": found.writes}

    def note(self, body: Json, found: Prediction) -> None:
        """Remember what a bind that has been made leaves behind."""
        namespace, name, node = (body.get(key, "") for key in ("PodNamespace", "PodName", "Node"))
        message = found.error or f"Successfully binding node [{node}] to {namespace}/{name}"
        self._told[f"{namespace}/{name}", message] += 1
        self._locks[node] = found.locks
        if any(_is_phase(entry) and "failed" not in entry for entry in found.writes):
            self._phased.add(f"{namespace}/{name}")

    def look(self, body: Json) -> None:
        """Keep what a bind finds, since it changes it."""
        node = self._world.api.objects["nodes", "", body["Node"]]
        self._before = dict(node["metadata"].get("annotations") or {})

    def decides_otherwise(self, body: Json, expected: Json) -> bool:
        """Say whether one of the three rules leads away from what was recorded."""
        pod = self._world.api.objects["pods", body["PodNamespace"], body["PodName"]]
        locks = {b.node_lock.annotation: b.node_lock for b in self._world.backends.values() if b.node_lock}
        before = self._before
        is_void = any(is_malformed(before[key], lock) for key, lock in locks.items() if key in before)
        gives_back = bool(expected["body_json"]["Error"]) and _gives_back(expected.get("writes", ()))
        return is_void or gives_back or bool(pod["spec"].get("initContainers"))

    def nodes(self, recorded: Json) -> Json:
        """Return nodes' annotations with the locks that are there by the rules."""
        keys = {b.node_lock.annotation for b in self._world.backends.values() if b.node_lock}
        return {name: _with(marks, keys, self._locks.get(name)) for name, marks in recorded.items()}

    def pods(self, recorded: Json) -> Json:
        """Return pods' annotations with the phases that are there by the rules."""
        phase = {annotations.BIND_PHASE: annotations.PHASE_ALLOCATING, annotations.BIND_TIME: NOW}
        return {
            name: _with(marks, set(phase), phase if name in self._phased else {})
            for name, marks in recorded.items()
        }

    def _event(self, namespace: str, name: str, uid: str, message: str, *, is_failure: bool) -> Json:
        times = self._told[f"{namespace}/{name}", message]
        if times > 1:
            return {"verb": "patch", "count": times}
        source = self._world.config.scheduler_name
        about = {"apiVersion": "v1", "kind": "Pod", "name": name, "namespace": namespace, "uid": uid}
        return {
            "verb": "create",
            "type": "Warning" if is_failure else "Normal",
            "reason": "BindingFailed" if is_failure else "BindingSucceed",
            "message": message,
            "namespace": namespace,
            "component": source,
            "reporting_component": source,
            "object": about,
            "count": 1,
        }


def is_malformed(text: str, lock: NodeLock) -> bool:
    """Say whether a lock cannot be read: another number of parts, or no time."""
    parts = text.split(",")
    return age_of(parts[0], now=0.0) is None or (lock.has_owner and len(parts) not in (1, 3))


def age_of(text: str, *, now: float) -> float | None:
    """Return seconds since a lock's time, None when it is none."""
    if not TIME.fullmatch(text):
        return None
    try:
        return now - datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _gives_back(writes: Iterable[Json]) -> bool:
    """Say whether a lock is removed that the same call did not take."""
    taken: set[str] = set()
    given = [entry for entry in writes if entry["resource"] == "nodes"]
    for entry in given:
        for key, text in entry["body"]["metadata"]["annotations"].items():
            if text is None and key not in taken:
                return True
            taken.add(key)
    return False


def _is_phase(entry: Json) -> bool:
    return entry["resource"] == "pods" and entry["verb"] == "patch"


def _with(marks: Json, keys: set[str], found: Mapping[str, str] | None) -> Json:
    """Return marks whose annotations under ``keys`` are those of ``found``; None leaves them."""
    if found is None:
        return marks
    kept = {key: text for key, text in marks["annotations"].items() if key not in keys}
    return {**marks, "annotations": kept | {key: text for key, text in found.items() if key in keys}}


class _Attempt:
    def __init__(self, world: World, pod: Json, node: Json, faults: list[Fault]) -> None:
        self._world = world
        self._pod = pod
        self._node = node["metadata"]["name"]
        self._faults = faults
        self._keys = ("pods", pod["metadata"].get("namespace", ""), pod["metadata"]["name"])
        self._locks = dict(node["metadata"].get("annotations") or {})
        self.found = Prediction()

    def run(self, body: Json) -> None:
        try:
            for lock in self._wanted():
                self._acquire(lock)
            phase = {annotations.BIND_PHASE: annotations.PHASE_ALLOCATING, annotations.BIND_TIME: NOW}
            self._write("patch", self._keys, {"metadata": {"annotations": phase}})
            meta = {"name": body["PodName"], "uid": body["PodUID"]}
            self._write(
                "create", self._keys, {"metadata": meta, "target": {"kind": "Node", "name": self._node}}
            )
        except Refused as refused:
            self.found.error = str(refused)
            for lock in reversed(self.found.taken):
                self._put(lock, None)
        self.found.locks = self._locks

    def _wanted(self) -> list[NodeLock]:
        """Return each lock the pod's vendors need once, vendors ascending."""
        pod = decode.decode_pod(self._pod)
        found = {}
        for _, backend in sorted(self._world.backends.items()):
            requests = [backend.request(container) for container in pod.all_containers]
            if backend.node_lock and any(request and request.cards > 0 for request in requests):
                found.setdefault(backend.node_lock.annotation, backend.node_lock)
        return list(found.values())

    def _acquire(self, lock: NodeLock) -> None:
        text = self._locks.get(lock.annotation)
        if text is not None:
            if not self._is_void(text, lock):
                return
            self._put(lock, None)
        self._put(lock, self._owned() if lock.has_owner else NOW)
        self.found.taken.append(lock)

    def _is_void(self, text: str, lock: NodeLock) -> bool:
        """Say whether a lock may be taken over; False: it is the pod's own."""
        parts = text.split(",")
        age = age_of(parts[0], now=self._world.clock.time())
        if age is None or is_malformed(text, lock):
            return True
        config, timeout = self._world.config, lock.timeout_seconds
        timeout = timeout or self._world.config.node_lock_timeout_seconds
        if age > timeout:
            return True
        if not lock.has_owner:
            raise Refused(f"node {self._node} has been locked within {timeout / 60:g} minutes")
        if parts[1:] == list(self._keys[1:]):
            return False
        if len(parts) == 3 and all(parts[1:]) and ("pods", parts[1], parts[2]) not in self._world.api.objects:
            return True
        within = f"node {self._node} has been locked within {format_seconds(timeout)}: node lock contention"
        if decode.decode_pod(self._pod).pod_group and config.node_lock_retry_seconds > 0:
            waited = format_seconds(config.node_lock_retry_seconds)
            raise Refused(
                f"timed out after {waited} waiting for node {self._node} to be unlocked: node lock contention"
            )
        raise Refused(within)

    def _owned(self) -> str:
        return f"{NOW},{self._keys[1]},{self._keys[2]}"

    def _put(self, lock: NodeLock, text: str | None) -> None:
        meta: Json = {"annotations": {lock.annotation: text}}
        if lock.has_owner:
            meta["resourceVersion"] = VERSION
        self._write("patch", ("nodes", "", self._node), {"metadata": meta})
        self._locks.pop(lock.annotation, None)
        if text is not None:
            self._locks[lock.annotation] = text

    def _write(self, verb: str, key: Key, body: Json) -> None:
        subresource = "" if verb == "patch" else "binding"
        entry: Json = {"verb": verb, "resource": key[0], "name": key[2], "body": body}
        if verb == "patch":
            entry["patch_type"] = "application/merge-patch+json"
        optional = {"namespace": key[1], "subresource": subresource}
        entry.update((name, text) for name, text in optional.items() if text)
        self.found.writes.append(entry)
        for fault in self._faults:
            if fault.strikes(verb, key, subresource, orjson.dumps(body)):
                entry["failed"] = True
                raise Refused(fault.raw["message"])
