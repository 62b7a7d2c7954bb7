"""Q-37 and Q-39: a filter call removes what an earlier decision wrote and this one does not write again.

What a failed call freed stays free: the old annotations go in the same step, and no later event counts them.
"""

from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.core import annotations


class OldDecisionCleared(Judge):
    def decision(self, seen: Seen) -> Seen:
        is_answered = seen.is_live and (seen.expected["node_names"] is None or seen.expected["patch"])
        if not is_answered:
            return seen
        own = {key for backend in self.world.backends.values() for key in backend.written_keys}
        before = seen.pod["metadata"].get("annotations") or {}
        patch = seen.expected["patch"]
        stale = {
            key: None
            for key in (own | {annotations.ASSIGNED_NODE, annotations.ASSIGNED_TIME}) & before.keys()
            if key not in patch
        }
        if not stale:
            return seen
        if patch:
            return seen.expecting(patch={**patch, **stale})
        self.course.mark(before.get(annotations.ASSIGNED_NODE), namespace=seen.pod["metadata"]["namespace"])
        return seen.expecting(patch=stale, labels={annotations.ASSIGNED_NODE: None})
