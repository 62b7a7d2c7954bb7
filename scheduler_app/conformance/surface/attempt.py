"""One bind by the decided rules, worked out beside the product."""

import re
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


class Attempt:
    """Takes the locks, notes the phase, binds, and gives back what it took when that fails."""

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
        found: dict[str, NodeLock] = {}
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
        config = self._world.config
        timeout = lock.timeout_seconds or config.node_lock_timeout_seconds
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
