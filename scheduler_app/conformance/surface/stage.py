"""Runs the steps of a surface case and collects results in the recording's shape."""

import base64
from collections.abc import Mapping
from typing import Any, cast

import orjson
import yaml

from scheduler_app import bootstrap
from scheduler_app.conformance import configurations
from scheduler_app.conformance.api import RESOURCES
from scheduler_app.conformance.cases import Case
from scheduler_app.conformance.door import Answer, Door
from scheduler_app.conformance.masks import Masks
from scheduler_app.conformance.mismatch import Mismatch
from scheduler_app.conformance.surface import inside, jsonpatch, outside, scrapes
from scheduler_app.conformance.surface.calls import Calls
from scheduler_app.conformance.world import START, World
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.duration import parse_seconds

Json = dict[str, Any]
SETTLED_SECONDS = 0.25  # the process starts a little after the moment that inputs are relative to
DEFAULTS: Mapping[str, Any] = {
    "scheduler_name": "hami-scheduler",
    "force_overwrite": True,
    "node_policy": "binpack",
    "gpu_policy": "spread",
    "legacy_metrics": False,
    "leader_elect": False,
    "lease_name": "",
    "lease_namespace": "",
    "node_lock_timeout": "5m",
    "node_lock_retry_timeout": "28s",
    "node_label_selector": {},
    "profiling": False,
}
ENABLING = {name.replace("-", "_"): name for name in configurations.ENABLING}
HOST = "host-a"
TOLD_BY_US = frozenset(("RegistrationFailed", "NodeLockMalformed", "AnnotationInvalid"))
"""Reasons of Events that the reference does not have: what it swallows, people should know (Q-15, Q-50)."""
GROUPED = {"leases": "leases.coordination.k8s.io"}
NAMESPACE = "hami-system-none"
MEMBERS = frozenset(
    (
        "id", "about", "vendor", "config", "flags", "hostname", "env", "objects", "api_faults", "steps",
        "runs", "expect", "accept", "quirks",
    )
)  # fmt: skip


class Stage:
    """One case while it runs."""

    def __init__(self, case: Case) -> None:
        raw = case.raw
        given = raw.get("flags", {})
        unknown = (raw.keys() - MEMBERS) | (given.keys() - DEFAULTS.keys() - ENABLING.keys())
        if unknown:
            raise Mismatch(f"case: unknown members or flags {sorted(unknown)}")
        flags = {**DEFAULTS, **dict.fromkeys(ENABLING, True), **given}
        enabling = {name: bool(flags[member]) for member, name in ENABLING.items()}
        devices = configurations.load(case.configs[raw.get("config", "chart")], enabling)
        self.world = World(devices.backends, _config(flags, raw), writes_events=True)
        self.world.clock.advance(SETTLED_SECONDS)
        self.masks = Masks(self.world.clock, base=START)
        self.raw = self.masks.resolved(raw)
        self._calls = Calls(devices, enabling)
        self._door = Door(self.world)

    def begin(self) -> None:
        """Put the objects that are there before the process starts, and the errors to inject."""
        for item in self.raw.get("objects", ()):
            self.world.put(item)
        self.world.api.set_faults(self.raw.get("api_faults", ()))

    def take(self, number: int, step: Json) -> Json:
        """Run one step and return its result, times masked.

        Raises:
            Mismatch: the step is not supported.
        """
        operation = getattr(self, f"_{step['op']}", None)
        result = None if operation is None else operation(step)
        if result is None:
            raise Mismatch(f"step {number} {step['op']}: unsupported step")
        return cast(Json, self.masks.hidden(result))

    def _call(self, step: Json) -> Json | None:
        result = self._calls.call(step["fn"], step["args"])
        return None if result is None else {"result": result}

    def _http(self, step: Json) -> Json:
        since = len(self.world.api.writes)
        body = _body(step)
        headers = tuple((step.get("headers") or {}).items())
        answer = self._door.call(step["method"], step["path"], body=body, headers=headers)
        self.world.write_events()
        written = self.world.api.writes[since:]
        self.world.settle(since)
        result = {**_shown(answer), **_written(written)}
        if step["path"] == "/webhook" and answer.status == 200 and step["method"] == "POST":
            result.update(_reviewed(answer, body))
        return result

    def _pass(self, step: Json) -> Json:
        since = len(self.world.api.writes)
        self.world.run_pass()
        self.world.write_events()
        return _written(self.world.api.writes[since:])

    def _apply(self, step: Json) -> Json:
        wakes = self.world.wakes
        self.world.put(step["object"])
        return {"pass_requested": self.world.wakes > wakes}

    def _delete(self, step: Json) -> Json:
        wakes = self.world.wakes
        resource = RESOURCES[step["kind"]]
        gone = self.world.remove((resource, step.get("namespace", ""), step["name"]))
        result: Json = {"pass_requested": self.world.wakes > wakes}
        shown = GROUPED.get(resource, resource)
        return result if gone else {**result, "error": f'{shown} "{step["name"]}" not found'}

    def _faults(self, step: Json) -> Json:
        self.world.api.set_faults(step["faults"])
        return {}

    def _wait(self, step: Json) -> Json:
        self.world.clock.advance(step["ms"] / 1000)
        return {}

    def _leader(self, step: Json) -> Json:
        leadership = self.world.leadership
        return {"is_leader": leadership.is_leader, "synced": leadership.is_synced}

    def _snapshot(self, step: Json) -> Json:
        return inside.snapshot(self.world, step.get("what", inside.ALL))

    def _metrics(self, step: Json) -> Json:
        bootstrap.install(self._door.parts)
        return scrapes.get(step.get("path", "/metrics"), step.get("method", "GET"))


def _config(flags: Json, raw: Json) -> SchedulerConfig:
    environment = {"POD_NAMESPACE": NAMESPACE, **raw.get("env", {})}
    return SchedulerConfig(
        scheduler_name=flags["scheduler_name"],
        node_policy=flags["node_policy"],
        card_policy=flags["gpu_policy"],
        node_label_selector=flags["node_label_selector"],
        node_lock_timeout_seconds=parse_seconds(flags["node_lock_timeout"]),
        node_lock_retry_seconds=parse_seconds(flags["node_lock_retry_timeout"]),
        bind_wait_seconds=0.0,
        force_overwrite_default_scheduler=flags["force_overwrite"],
        leader_elect=flags["leader_elect"],
        lease_name=flags["lease_name"],
        lease_namespace=flags["lease_namespace"],
        host_name=raw.get("hostname", HOST),
        pod_name=environment.get("POD_NAME", ""),
        pod_namespace=environment["POD_NAMESPACE"],
        legacy_metrics=flags["legacy_metrics"],
        profiling=flags["profiling"],
        readyz_follower_ok=True,
        unsynced_wait_seconds=0.0,
    )


def _body(step: Json) -> bytes:
    if "body" in step:
        return orjson.dumps(step["body"])
    parts = step.get("body_parts") or [{"text": step.get("body_text", "")}]
    return b"".join(
        (part.get("text") or part["repeat"] * part["times"]).encode()
        for part in parts
        if part.get("text") != ""
    )


def _shown(answer: Answer) -> Json:
    text = answer.body.decode()
    result: Json = {"status": answer.status, "headers": answer.headers, "body_text": text.rstrip("\n")}
    if answer.headers.get("content-type", "").startswith("application/json"):
        result["body_json"] = orjson.loads(answer.body)
        result["trailing_newline"] = text.endswith("\n")
    else:
        result["body_text"] = text
    return result


def _written(log: list[Json]) -> Json:
    found = {"writes": outside.writes(log), "events": outside.events(log, without=TOLD_BY_US)}
    return {name: entries for name, entries in found.items() if entries}


def _reviewed(answer: Answer, body: bytes) -> Json:
    """Return the review, and the object as it came and after our patch."""
    review = orjson.loads(answer.body)
    result: Json = {"review": review}
    if not review["response"].get("allowed"):
        return result
    try:
        received = yaml.safe_load(body) if not body.lstrip().startswith(b"{") else orjson.loads(body)
        item = received["request"]["object"]
    except (yaml.YAMLError, orjson.JSONDecodeError, KeyError, TypeError):
        return result
    patch = review["response"].get("patch")
    operations = orjson.loads(base64.b64decode(patch)) if patch else []
    return {**result, "received": item, "object_after": jsonpatch.applied(item, operations)}
