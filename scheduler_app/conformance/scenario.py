"""Replay of ``filter/``: filter calls, pod, node and quota events, and the accounting after them."""

import copy
from typing import Any

from scheduler_app.conformance import configurations
from scheduler_app.conformance.cases import Case
from scheduler_app.conformance.door import Door
from scheduler_app.conformance.masks import TIME, Masks
from scheduler_app.conformance.mismatch import Mismatch
from scheduler_app.conformance.panel import Panel
from scheduler_app.conformance.world import START, World
from scheduler_app.core import annotations
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.predicate import Backends

Json = dict[str, Any]
POLICY_FLAGS = {"node-scheduler-policy": "binpack", "gpu-scheduler-policy": "spread"}
MEMBERS = frozenset(
    ("id", "about", "device_config", "flags", "quirks", "nodes", "quotas", "steps", "expect_usage")
)


def replay(case: Case) -> bool:
    """Run one scenario; say whether a fix decided about something in it.

    Raises:
        Mismatch: at the first difference, an unknown member or flag, or an unsupported step.
    """
    unknown = case.raw.keys() - MEMBERS
    if unknown:
        raise Mismatch(f"case: unknown members {sorted(unknown)}")
    flags = {**POLICY_FLAGS, **configurations.ENABLING, **case.raw["flags"]}
    strange = flags.keys() - POLICY_FLAGS.keys() - configurations.ENABLING.keys()
    if strange:
        raise Mismatch(f"case: unknown flags {sorted(strange)}")
    enabling = {name: flags[name] == "true" for name in configurations.ENABLING}
    devices = configurations.load(case.configs[case.raw["device_config"]], enabling)
    config = SchedulerConfig(
        node_policy=flags["node-scheduler-policy"], card_policy=flags["gpu-scheduler-policy"]
    )
    return Scenario(case, devices.backends, config).run()


class Scenario:
    """One case while it runs."""

    def __init__(self, case: Case, backends: Backends, config: SchedulerConfig) -> None:
        self._raw = case.raw
        self._world = World(backends, config)
        self._door = Door(self._world)
        self._masks = Masks(self._world.clock, base=START)
        self._panel = Panel(case, self._world)
        self._pods: dict[str, tuple[str, str, str]] = {}

    def run(self) -> bool:
        for item in (*self._raw["nodes"], *self._raw.get("quotas", ())):
            self._world.put(item)
        self._world.run_pass()
        for number, step in enumerate(self._raw["steps"]):
            operation = getattr(self, f"_{step['op']}", None)
            if operation is None:
                raise Mismatch(f"step {number} {step['op']}: unsupported step")
            self._panel.before(step)
            found = operation(step)
            if found:
                raise Mismatch(f"step {number} {step['op']}: {found}")
        if "expect_usage" in self._raw:
            found = self._panel.usage_differs(self._raw["expect_usage"])
            if found:
                raise Mismatch(f"end: {found}")
        return self._panel.used_fix

    # Filter calls; each returns its first difference

    def _filter(self, step: Json) -> str | None:
        meta = step["pod"]["metadata"]
        self._pods[meta["uid"]] = ("pods", meta["namespace"], meta["name"])
        self._world.put(step["pod"])
        return self._decide(step, step["pod"])

    def _refilter(self, step: Json) -> str | None:
        return self._decide(step, self._pod(step["uid"]))

    def _decide(self, step: Json, pod: Json) -> str | None:
        api, told, logged = self._world.api, self._world.events.told, self._world.log.decisions
        writes, events, decisions = len(api.writes), len(told), len(logged)
        answer = self._door.post("/filter", {"Pod": pod, "NodeNames": step["node_names"]})
        patch, labels = self._written(api.writes[writes:])
        actual = {
            **_answered(answer),
            "patch": patch,
            "labels": labels,
            "scores": {name: score for found in logged[decisions:] for name, score in found.fitting},
            "events": sorted(f"{e.type} {e.reason} {e.message}" for e in told[events:]),
        }
        found = self._panel.answer_differs(step, pod, actual)
        if not found and len(api.writes) > writes and step.get("delivered", True):
            self._follow(pod["metadata"]["uid"], node=(answer["NodeNames"] or [""])[0], step=step)
        return found

    def _written(self, writes: list[Json]) -> tuple[Json, Json]:
        """Return annotations and labels as the writes of one call merge, clock readings masked."""
        patch: Json = {}
        labels: Json = {}
        for write in writes:
            meta = write["body"]["metadata"]
            patch.update(meta.get("annotations", {}))
            labels.update(meta.get("labels", {}))
        return {key: TIME if self._masks.is_reading(text) else text for key, text in patch.items()}, labels

    def _follow(self, uid: str, *, node: str, step: Json) -> None:
        """Deliver what was written, and after that the bound and running pod."""
        self._world.deliver(self._pod(uid))
        if node and step.get("bound", True):
            pod = self._changed(uid)
            pod["spec"]["nodeName"] = pod["metadata"]["annotations"][annotations.ASSIGNED_NODE]
            pod["status"]["phase"] = "Running"
            self._world.deliver(pod)

    def _simulate(self, step: Json) -> str | None:
        objects, writes = self._world.api.objects, len(self._world.api.writes)
        bare: Json = {"apiVersion": "v1", "kind": "Node"}
        items = [
            objects.get(("nodes", "", name), {**bare, "metadata": {"name": name}}) for name in step["nodes"]
        ]
        answer = self._door.post("/filter", {"Pod": step["pod"], "Nodes": {"items": items}})
        if len(self._world.api.writes) > writes:
            return f"a simulation wrote {self._world.api.writes[writes:]}"
        nodes = answer["Nodes"]
        names = None if nodes is None else [item["metadata"]["name"] for item in nodes["items"]]
        return self._panel.answer_differs(step, step["pod"], {**_answered(answer), "nodes": names})

    # Pods

    def _add_pod(self, step: Json) -> None:
        meta = step["pod"]["metadata"]
        self._pods[meta["uid"]] = ("pods", meta["namespace"], meta["name"])
        self._world.put(step["pod"])

    def _delete_pod(self, step: Json) -> None:
        self._world.remove(self._pods[step["uid"]])

    def _complete_pod(self, step: Json) -> None:
        pod = self._changed(step["uid"])
        pod["status"]["phase"] = step["phase"]
        self._world.deliver(pod)

    def _terminate_pod(self, step: Json) -> None:
        pod = self._changed(step["uid"])
        pod["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
        self._world.deliver(pod)

    def _init_done(self, step: Json) -> None:
        pod = self._changed(step["uid"])
        names = [container["name"] for container in pod["spec"].get("initContainers", ())]
        ended = {"terminated": {"exitCode": 0}}
        pod["status"]["initContainerStatuses"] = [{"name": name, "state": ended} for name in names]
        self._world.deliver(pod)

    def _pod_update(self, step: Json) -> None:
        self._world.resync(self._pod(step["uid"]))

    # Nodes, quotas, accounting

    def _node_add(self, step: Json) -> None:
        self._world.put(step["node"])
        self._world.run_pass()

    _node_update = _node_add

    def _node_delete(self, step: Json) -> None:
        self._world.remove(("nodes", "", step["name"]))
        self._world.run_pass()

    def _register(self, step: Json) -> None:
        self._world.run_pass()

    def _quota_update(self, step: Json) -> None:
        self._world.put(step["quota"])

    def _quota_delete(self, step: Json) -> None:
        self._world.remove(("resourcequotas", step["namespace"], step["name"]))

    def _usage(self, step: Json) -> str | None:
        return self._panel.usage_differs(step["expect_usage"])

    # Objects

    def _pod(self, uid: str) -> Json:
        return self._world.api.objects[self._pods[uid]]

    def _changed(self, uid: str) -> Json:
        """Return a copy of a pod to change, already in the place of the old one."""
        fresh = copy.deepcopy(self._pod(uid))
        self._world.api.objects[self._pods[uid]] = fresh
        return fresh


def _answered(answer: Json) -> Json:
    return {
        "node_names": answer["NodeNames"],
        "failed_nodes": answer["FailedNodes"],
        "error": answer["Error"],
    }
