"""The decided differences of ``surface/``: each restates what was recorded as the fix would have it.

They show by themselves and are looked for in every case, since the list beside the cases may lack some.
"""

from typing import Any

from scheduler_app.conformance.api import Key, key_of
from scheduler_app.conformance.surface import limits, requests, wrapping
from scheduler_app.conformance.surface.accounts import Accounts, without_unused
from scheduler_app.conformance.surface.attempt import Prediction
from scheduler_app.conformance.surface.binds import BindRules
from scheduler_app.conformance.surface.registrations import Registrations
from scheduler_app.conformance.surface.stage import Stage
from scheduler_app.core import annotations

Json = dict[str, Any]
Pair = tuple[Json, Json]


class Fixes:
    """The fixes for one case. ``before`` is told of each step ahead of it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._binds = BindRules(stage.world)
        self._bind: Prediction | None = None
        self._known: Json | None = None
        self._led = False
        self._was_alike = False
        self._registrations = Registrations(stage.world)
        self._accounts = Accounts(stage.world)
        self._accounts.look()

    def before(self, step: Json) -> None:
        """Remember what a step may change."""
        is_bind = step["op"] == "http" and step["path"] == "/bind" and isinstance(step.get("body"), dict)
        self._bind = self._binds.predicted(step["body"]) if is_bind else None
        if self._bind is not None:
            self._binds.look(step["body"])
        self._led = self._stage.world.leadership.is_leader
        self._was_alike = self._was_alike or self._is_alike()
        self._known = None
        if step["op"] == "apply":
            self._known = self._stage.world.api.objects.get(key_of(step["object"]))
        elif step["op"] == "pass":
            self._registrations.before_pass()

    def after(self, step: Json) -> None:
        """Follow what a step has changed."""
        if self._bind is not None:
            self._binds.note(step["body"], self._bind)
        self._accounts.look()
        if step["op"] == "pass":
            self._accounts.after_pass()
            self._registrations.after_pass()

    def restated(self, step: Json, expected: Json, actual: Json) -> Pair:
        """Return both results as the fixes have them."""
        change = getattr(self, f"_{step['op']}", None)
        return (expected, actual) if change is None else change(step, expected, actual)

    def _call(self, step: Json, expected: Json, actual: Json) -> Pair:
        """Q-50: a null among devices makes the text malformed, where the reference stops."""
        if expected.get("crash") or (step["fn"] == "decode_node_json" and _has_null(expected)):
            return {"result": {"error": "malformed"}}, actual
        return wrapping.called(step, expected, actual, self._stage.world.backends), actual

    def _apply(self, step: Json, expected: Json, actual: Json) -> Pair:
        """A pass follows every node event (architecture.md, section 3) and every new term (Q-10, Q-11)."""
        item = step["object"]
        if item["kind"] == "Node" and self._known is not None:
            is_asked = expected["pass_requested"] or _advertised(self._known) != _advertised(item)
            return {**expected, "pass_requested": is_asked}, actual
        if item["kind"] == "Lease" and key_of(item) == self._lease_key:
            return {**expected, "pass_requested": self._holds() and not self._led}, actual
        return expected, actual

    def _pass(self, step: Json, expected: Json, actual: Json) -> Pair:
        """Q-29: no role labels without leader election; Q-50: a pass survives a malformed text."""
        if expected.get("crash"):
            return actual, actual
        config = self._stage.world.config
        if not (config.leader_elect and config.pod_name and config.pod_namespace):
            kept = [entry for entry in expected.get("writes", ()) if not _is_role(entry)]
            expected = {**expected, "writes": kept}
        return self._without_absent(expected), self._without_absent(actual)

    def _without_absent(self, result: Json) -> Json:
        """Q-2: an absent vendor's handshake is asked and removed again and again, or only asked."""
        kept = []
        for entry in result.get("writes", ()):
            gone = self._registrations.handshakes(entry["name"]) if entry["resource"] == "nodes" else ()
            texts = {
                k: v for k, v in entry["body"]["metadata"].get("annotations", {}).items() if k not in gone
            }
            if texts or not gone:
                kept.append(
                    {**entry, "body": {"metadata": {**entry["body"]["metadata"], "annotations": texts}}}
                    if gone
                    else entry
                )
        return {**result, "writes": kept}

    def _snapshot(self, step: Json, expected: Json, actual: Json) -> Pair:
        expected, actual = dict(expected), dict(actual)
        config = self._stage.world.config
        if "api_pods" in expected and not (config.leader_elect and config.pod_name and config.pod_namespace):
            expected["api_pods"] = {name: _without_role(m) for name, m in expected["api_pods"].items()}
        if "api_nodes" in expected and self._binds.differ:
            expected["api_nodes"] = self._stage.masks.hidden(self._binds.nodes(expected["api_nodes"]))
            expected["api_pods"] = self._binds.pods(expected["api_pods"])
        if "api_nodes" in expected:
            expected["api_nodes"] = self._registrations.marks(expected["api_nodes"])
            actual["api_nodes"] = self._registrations.marks(actual["api_nodes"])
        for view in ("cache", "usage"):
            if view in expected:
                expected[view] = getattr(self._registrations, view)(expected[view])
        if self._accounts.differ:
            if "pods" in expected:
                expected["pods"] = self._accounts.pods()
            if "usage" in expected:
                expected["usage"] = self._accounts.usage(expected["usage"])
            if "quota" in expected:
                expected["quota"] = self._accounts.quota(expected["quota"])
                actual["quota"] = without_unused(actual["quota"])
        return expected, actual

    def _leader(self, step: Json, expected: Json, actual: Json) -> Pair:
        """Q-10: to the reference a holder is ours if it begins so; Q-11: what expired stays synced."""
        leads = expected["is_leader"] and (self._holds() or not self._is_alike())
        synced = expected["synced"] and (leads or not self._was_alike)
        return {**expected, "is_leader": leads, "synced": synced}, actual

    @property
    def _lease_key(self) -> Key:
        return "leases", self._stage.world.config.lease_namespace, self._stage.world.config.lease_name

    def _holds(self) -> bool:
        if not self._stage.world.config.leader_elect:
            return True
        return self._holder == self._host or self._holder.startswith(f"{self._host}_")

    def _is_alike(self) -> bool:
        return not self._stage.world.config.leader_elect or self._holder.startswith(self._host)

    @property
    def _holder(self) -> str:
        lease = self._stage.world.api.objects.get(self._lease_key) or {}
        return (lease.get("spec") or {}).get("holderIdentity") or ""

    @property
    def _host(self) -> str:
        return self._stage.world.config.host_name

    def _http(self, step: Json, expected: Json, actual: Json) -> Pair:
        path = step["path"]
        if path == "/readyz" and step["method"] == "GET":
            expected = self._ready(expected, actual)
        elif self._bind is not None:
            expected = self._bound(step, expected)
        elif path == "/webhook":
            expected = limits.reviewed(self._stage.world, step, expected)
            expected = wrapping.reviewed(step, expected, actual, self._stage.world.backends)
        elif "no_response_within_ms" in expected or (path == "/filter" and not self._is_synced()):
            expected = requests.unsynced(expected, actual)
        elif path == "/filter":
            expected = requests.filtered(self._stage, step, expected, actual)
        elif path == "/bind":
            expected = requests.sized(self._stage, step, expected, actual)
        return expected, actual

    def _bound(self, step: Json, expected: Json) -> Json:
        """Q-15, Q-17, Q-18: from the first bind on that they decide otherwise, binds go by the rules."""
        assert self._bind is not None  # noqa: S101  (asked for binds only)
        is_same = expected.get("writes", []) == self._bind.writes
        if not self._binds.differ and not is_same:
            self._binds.differ = self._binds.decides_otherwise(step["body"], expected)
        if not self._binds.differ:
            return expected
        return {**expected, **self._binds.result(step["body"], self._bind)}

    def _is_synced(self) -> bool:
        return self._stage.world.leadership.is_synced

    def _ready(self, expected: Json, actual: Json) -> Json:
        """CFG-9: 503 with the reason on a leader that is not synced yet."""
        leadership = self._stage.world.leadership
        if not leadership.is_leader or leadership.is_synced:
            return expected
        headers = {"content-type": "text/plain; charset=utf-8"}
        return {**expected, "status": 503, "headers": headers, "body_text": actual["body_text"] or "<reason>"}


def _has_null(expected: Json) -> bool:
    return "error" not in expected["result"] and None in (expected["result"].get("devices") or ())


def _advertised(node: Json) -> tuple[Any, ...]:
    meta, status = node["metadata"], node.get("status") or {}
    told = {k: v for k, v in (meta.get("annotations") or {}).items() if not _is_chatter(k)}
    return told, meta.get("labels") or {}, status.get("capacity") or {}, status.get("allocatable") or {}


def _is_chatter(key: str) -> bool:
    return key.endswith(".lock") or "/node-handshake" in key


def _is_role(entry: Json) -> bool:
    return annotations.SCHEDULER_ROLE in (entry["body"]["metadata"].get("labels") or {})


def _without_role(marks: Json) -> Json:
    labels = {name: text for name, text in marks["labels"].items() if name != annotations.SCHEDULER_ROLE}
    return {**marks, "labels": labels}
