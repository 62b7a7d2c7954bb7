"""Q-21, Q-22, Q-23: what a pod counts for follows from its annotations and its state, whenever it was seen.

Terminating pods count until they are gone; once the init containers have ended, only what runs counts;
sidecars run beside the app containers and are added to them.
"""

from typing import Any

from scheduler_app.conformance.quirks import held
from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.core import annotations

Json = dict[str, Any]


class CountedAsItIs(Judge):
    """Q-21 and Q-22: pods that appear with a decision already made."""

    def before(self, step: Json) -> None:
        if step["op"] != "add_pod":
            return
        meta = step["pod"]["metadata"]
        if meta.get("deletionTimestamp") or held.has_ended(step["pod"]):
            self.course.mark(meta["annotations"][annotations.ASSIGNED_NODE], namespace=meta["namespace"])


class SidecarsRun(Judge):
    """Q-23: the decision about a pod with sidecars is itself another one."""

    def decision(self, seen: Seen) -> Seen:
        inits = seen.pod["spec"].get("initContainers", ())
        if not any(init.get("restartPolicy") == "Always" for init in inits):
            return seen
        self.course.is_open = True
        nodes = (*(seen.expected["node_names"] or ()), *(seen.actual["node_names"] or ()))
        self.course.mark(*nodes, namespace=seen.pod["metadata"]["namespace"])
        return seen
