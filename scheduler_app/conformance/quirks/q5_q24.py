"""Q-5 and Q-24: quota counts containers at their true positions; of several limits the smallest holds.

A recorded placement that would exceed a limit by that reckoning must not be ours.
"""

from collections.abc import Mapping
from typing import Any

from scheduler_app.conformance.quirks import held
from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.core import quantity

Json = dict[str, Any]
WORD = "ResourceQuotaNotFit"


class LimitsHold(Judge):
    def decision(self, seen: Seen) -> Seen:
        """Open a decision that exceeded a limit, if ours is refused for quota or stays below."""
        if not seen.is_live or not self._exceeds(seen.pod, seen.expected["patch"]):
            return seen
        told = (seen.actual["failed_nodes"] or {}).values()
        is_refused = any(WORD in text for text in told)
        is_below = bool(seen.actual["node_names"]) and not self._exceeds(seen.pod, seen.actual["patch"])
        self.course.is_open = is_refused or is_below
        nodes = seen.expected["node_names"] or ()
        self.course.mark(*nodes, namespace=seen.pod["metadata"]["namespace"])
        return seen

    def _exceeds(self, pod: Json, patch: Mapping[str, str | None]) -> bool:
        meta = pod["metadata"]
        others = [other for other in self.world.api.of("pods") if other["metadata"]["uid"] != meta["uid"]]
        used = held.all_held(others, self.world.backends)
        written = {key: text for key, text in patch.items() if text is not None}
        placed = {**pod, "metadata": {**meta, "annotations": written}}
        total = held.all_held([*others, placed], self.world.backends)
        for (namespace, resource), amount in total.quotas.items():
            limit = self.limit(namespace, resource)
            if limit is not None and amount > max(limit, used.quotas.get((namespace, resource), 0)):
                return True
        return False

    def limit(self, namespace: str, resource: str) -> int | None:
        """Return the smallest limit that any quota of the namespace sets, in the vendor's accounting unit."""
        items = (q for q in self.world.api.of("resourcequotas") if q["metadata"]["namespace"] == namespace)
        written = (q["spec"]["hard"].get(f"limits.{resource}") for q in items)
        limits = [
            value for text in written if text is not None and (value := quantity.exact(text)) is not None
        ]
        factors = [b.names.mem_factor for b in self.world.backends.values() if b.names.mem == resource]
        return min(limits) * max(1, *factors) if limits and factors else min(limits, default=None)


class SmallestLimit(LimitsHold):
    """Q-24 also shows in the accounting: the limit is the smallest of those that are there."""

    def usage(self, expected: Json) -> Json:
        quotas = {
            namespace: {resource: self._entry(namespace, resource, e) for resource, e in entries.items()}
            for namespace, entries in expected["quotas"].items()
        }
        return {**expected, "quotas": quotas}

    def _entry(self, namespace: str, resource: str, entry: Json) -> Json:
        limit = self.limit(namespace, resource)
        return {**entry, "limit": limit or 0, "limit_set": limit is not None}
