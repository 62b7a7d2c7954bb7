"""Whole numbers beyond 32 bits are refused with a message that names the resource, never wrapped."""

from collections.abc import Iterator
from typing import Any

from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.core import quantity
from scheduler_app.core.predicate import Backends

Json = dict[str, Any]
LARGEST = 2**31 - 1


class NeverWrapped(Judge):
    def decision(self, seen: Seen) -> Seen:
        """Expect an error about the first amount that is named in ours and cannot be."""
        error = seen.actual["error"]
        named = [c for c, r in beyond(seen.pod, self.world.backends) if f"container {c}: {r} " in error]
        if not named:
            return seen
        self.course.mark(*(seen.expected["node_names"] or ()), namespace=seen.pod["metadata"]["namespace"])
        fresh = seen.expecting(node_names=None, failed_nodes=None, error=error)
        if not seen.is_live:
            return fresh.expecting(nodes=None)
        return fresh.expecting(patch={}, labels={}, scores={}, events=[f"Warning FilteringFailed {error}"])


def beyond(pod: Json, backends: Backends) -> Iterator[tuple[str, str]]:
    """Yield container and resource of every amount beyond 32 bits, in the vendor's accounting unit."""
    factors: dict[str, int] = {}
    for backend in backends.values():
        names = backend.names
        factors.update({names.count: 1, names.mem: max(names.mem_factor, 1), names.cores: 1})
    for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
        resources = container.get("resources") or {}
        for group in ("limits", "requests"):
            for name, text in (resources.get(group) or {}).items():
                value = quantity.exact(str(text))
                if name in factors and value is not None and abs(value * factors[name]) > LARGEST:
                    yield container["name"], name
