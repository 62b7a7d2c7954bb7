"""Replay of ``filter/``: scenarios of filter calls, pod and node events, and the accounting after them."""

import copy
from typing import Any

from scheduler_app.conformance import configurations, door
from scheduler_app.conformance.cases import Case
from scheduler_app.conformance.compare import difference
from scheduler_app.conformance.quirks.course import Course
from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.conformance.quirks.table import judges_for
from scheduler_app.conformance.scope import Scope
from scheduler_app.conformance.usage import normalized, usage
from scheduler_app.conformance.world import World
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.predicate import Backends

Json = dict[str, Any]
TIME = "<time>"
CLOCK_KEYS = frozenset(
    (
        "hami.io/vgpu-time",
        "predicate-time",
        "metax-tech.com/predicate-time",
        "enflame.com/gcu-assigned-time",
        "NEURON_ALLOC_TIME",
        "mthreads.com/predicate-time",
    )
)
DEFAULT_FLAGS = {
    "node-scheduler-policy": "binpack",
    "gpu-scheduler-policy": "spread",
    "enable-ascend": "false",
    "enable-iluvatar": "false",
}
MEMBERS = frozenset(
    ("id", "about", "device_config", "flags", "quirks", "nodes", "quotas", "steps", "expect_usage")
)


class Mismatch(Exception):  # noqa: N818  (ends a case at its first difference)
    """Carries the first difference of a case, and the step at which it showed."""


def replay(case: Case, scope: Scope) -> None:
    """Run one scenario.

    Raises:
        Mismatch: at the first difference, an unknown member or an unsupported step.
    """
    unknown = case.raw.keys() - MEMBERS
    if unknown:
        raise Mismatch(f"case: unknown members {sorted(unknown)}")
    Scenario(case, scope.backends(backends_of(case))).run()


def backends_of(case: Case) -> Backends:
    flags = {**DEFAULT_FLAGS, **case.raw["flags"]}
    enabling = {name: flags[name] == "true" for name in ("enable-ascend", "enable-iluvatar")}
    return configurations.load(case.configs[case.raw["device_config"]], enabling).backends


class Scenario:
    """One case while it runs."""

    def __init__(self, case: Case, backends: Backends) -> None:
        flags = {**DEFAULT_FLAGS, **case.raw["flags"]}
        if flags.keys() != DEFAULT_FLAGS.keys():
            raise Mismatch(f"case: unknown flags {sorted(flags.keys() - DEFAULT_FLAGS.keys())}")
        policies = flags["node-scheduler-policy"], flags["gpu-scheduler-policy"]
        self._case = case
        self._world = World(backends, SchedulerConfig(node_policy=policies[0], card_policy=policies[1]))
        self._course = Course(self._world)
        self._judges: list[Judge] = judges_for(case.quirks, self._world, self._course)
        self._pods: dict[str, tuple[str, str, str]] = {}
        self._at = "start"

    def run(self) -> None:
        raw = self._case.raw
        for node in raw["nodes"]:
            self._world.put(node)
        for quota in raw.get("quotas", ()):
            self._world.put(quota)
        self._world.run_pass()
        for number, step in enumerate(raw["steps"]):
            self._at = f"step {number} {step['op']}"
            operation = getattr(self, f"_{step['op']}", None)
            if operation is None:
                raise Mismatch(f"{self._at}: unsupported step")
            for judge in self._judges:
                judge.before(step)
            operation(step)
        self._at = "end"
        if "expect_usage" in raw:
            self._compare_usage(raw["expect_usage"])

    # Filter calls

    def _filter(self, step: Json) -> None:
        pod = step["pod"]
        self._remember(pod)
        self._world.put(pod)
        self._decide(step, pod)

    def _refilter(self, step: Json) -> None:
        self._decide(step, self._pod(step["uid"]))

    def _decide(self, step: Json, pod: Json) -> None:
        pod = copy.deepcopy(pod)
        writes, told, logged = (
            len(self._world.api.writes),
            len(self._world.events.told),
            len(self._world.log.decisions),
        )
        answer = door.filter(self._world, {"Pod": pod, "NodeNames": step["node_names"]})
        actual = _actual(answer)
        actual["patch"], actual["labels"] = self._written(writes)
        events = self._world.events.told[told:]
        actual["events"] = sorted(f"{e.type} {e.reason} {e.message}" for e in events)
        actual["scores"] = {n: s for d in self._world.log.decisions[logged:] for n, s in d.fitting}
        self._judge(step, pod, actual)
        if len(self._world.api.writes) > writes and step.get("delivered", True):
            self._deliver(
                pod["metadata"]["uid"],
                is_bound=bool(answer["NodeNames"]) and step.get("bound", True),
                step=step,
            )

    def _written(self, since: int) -> tuple[Json, Json]:
        """Return annotations and labels as the writes of one call merge."""
        patch: Json = {}
        labels: Json = {}
        for write in self._world.api.writes[since:]:
            meta = write["body"]["metadata"]
            patch.update(meta.get("annotations", {}))
            labels.update(meta.get("labels", {}))
        return {key: TIME if key in CLOCK_KEYS and value else value for key, value in patch.items()}, labels

    def _judge(self, step: Json, pod: Json, actual: Json) -> None:
        options = step.get("accept") or [step["expect"]]
        shared = {name: step[name] for name in ("scores",) if name in step}
        problems = [self._differs({**option, **shared}, step, pod, dict(actual)) for option in options]
        if all(problems):
            more = f" (and {len(problems) - 1} other outcomes)" if len(problems) > 1 else ""
            raise Mismatch(f"{self._at}: {problems[0]}{more}")

    def _differs(self, expected: Json, step: Json, pod: Json, actual: Json) -> str | None:
        accounting = expected.pop("expect_usage", None)
        if "patch" in expected:
            expected.setdefault("labels", {})
        seen = Seen(step, pod, expected, actual)
        self._course.is_open = False
        for judge in self._judges:
            seen = judge.decision(seen)
        found = _difference(seen.expected, seen.actual)
        if found and self._course.affected(step, pod):
            restated = self._course.restated(seen.expected, seen.actual, step=step, pod=pod)
            found = _difference(restated, seen.actual)
        if found or accounting is None:
            return found
        return self._usage_differs(accounting)

    def _deliver(self, uid: str, *, is_bound: bool, step: Json) -> None:
        pod = self._pod(uid)
        self._world.deliver(pod)
        if is_bound:
            fresh = copy.deepcopy(self._pod(uid))
            names = step["expect"]["node_names"] if "expect" in step else None
            fresh["spec"]["nodeName"] = (names or [""])[0] or fresh["metadata"]["annotations"][
                "hami.io/vgpu-node"
            ]
            fresh["status"]["phase"] = "Running"
            self._world.put(fresh)

    def _simulate(self, step: Json) -> None:
        items = [self._current_node(name) for name in step["nodes"]]
        writes = len(self._world.api.writes)
        answer = door.filter(self._world, {"Pod": step["pod"], "Nodes": {"items": items}, "NodeNames": None})
        actual = _actual(answer)
        nodes = answer["Nodes"]
        actual["nodes"] = None if nodes is None else [item["metadata"]["name"] for item in nodes["items"]]
        if len(self._world.api.writes) > writes:
            raise Mismatch(f"{self._at}: a simulation wrote {self._world.api.writes[writes:]}")
        self._judge(step, step["pod"], actual)

    def _current_node(self, name: str) -> Json:
        found = self._world.api.objects.get(("nodes", "", name))
        return found or {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}

    # Pods

    def _add_pod(self, step: Json) -> None:
        self._remember(step["pod"])
        self._world.put(step["pod"])

    def _delete_pod(self, step: Json) -> None:
        self._world.remove(self._pods[step["uid"]])

    def _complete_pod(self, step: Json) -> None:
        self._update(step["uid"])["status"]["phase"] = step["phase"]
        self._pod_update(step)

    def _terminate_pod(self, step: Json) -> None:
        self._update(step["uid"])["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
        self._pod_update(step)

    def _init_done(self, step: Json) -> None:
        pod = self._update(step["uid"])
        ended = {"terminated": {"exitCode": 0}}
        names = [container["name"] for container in pod["spec"].get("initContainers", ())]
        pod["status"]["initContainerStatuses"] = [{"name": name, "state": ended} for name in names]
        self._pod_update(step)

    def _pod_update(self, step: Json) -> None:
        self._world.deliver(self._pod(step["uid"]))

    # Nodes and quotas

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

    # Accounting

    def _usage(self, step: Json) -> None:
        self._compare_usage(step["expect_usage"])

    def _compare_usage(self, expected: Json) -> None:
        found = self._usage_differs(expected)
        if found:
            raise Mismatch(f"{self._at}: {found}")

    def _usage_differs(self, expected: Json) -> str | None:
        expected, actual = normalized(expected), usage(self._world.state)
        for judge in self._judges:
            expected = judge.usage(expected)
        if self._course.namespaces:
            actual = self._course.without_unused(actual)
        return difference(self._course.usage(expected), actual, "usage")

    # Objects

    def _remember(self, pod: Json) -> None:
        meta = pod["metadata"]
        self._pods[meta["uid"]] = ("pods", meta["namespace"], meta["name"])

    def _pod(self, uid: str) -> Json:
        return self._world.api.objects[self._pods[uid]]

    def _update(self, uid: str) -> Json:
        """Return a fresh copy of a pod to change, in place of the old one."""
        fresh = copy.deepcopy(self._pod(uid))
        self._world.api.objects[self._pods[uid]] = fresh
        return fresh


def _difference(expected: Json, actual: Json) -> str | None:
    """Compare an answer; events and scores are left out where the recording varied (its README)."""
    left_out = {name for name in ("events", "scores") if name not in expected}
    return difference(expected, {name: value for name, value in actual.items() if name not in left_out})


def _actual(answer: Json) -> Json:
    return {
        "node_names": answer["NodeNames"],
        "failed_nodes": answer["FailedNodes"],
        "error": answer["Error"],
    }
