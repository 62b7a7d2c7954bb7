"""What a bind must do by the decided rules, worked out beside the product.

A lock that cannot be read is void (Q-15), init containers count (Q-17), and a failed bind gives back only
what it took itself (Q-18, L08).

The recording is left for this as soon as one of the three makes a difference.
"""

import copy
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_app.conformance.surface.attempt import NOW, Attempt, Prediction, is_malformed
from scheduler_app.conformance.world import World
from scheduler_app.core import annotations

Json = dict[str, Any]


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
        attempt = Attempt(self._world, pod, stored, faults)
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
    return bool(entry["resource"] == "pods" and entry["verb"] == "patch")


def _with(marks: Json, keys: set[str], found: Mapping[str, str] | None) -> Json:
    """Return marks whose annotations under ``keys`` are those of ``found``; None leaves them."""
    if found is None:
        return marks
    kept = {key: text for key, text in marks["annotations"].items() if key not in keys}
    return {**marks, "annotations": kept | {key: text for key, text in found.items() if key in keys}}
