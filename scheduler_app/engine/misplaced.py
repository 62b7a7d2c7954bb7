"""What a pod's author most likely meant otherwise: said as warnings at admission, and changed by nobody.

A card's memory written as an annotation is ignored and the pod gets a whole card (W15); memory or cores
without a number of cards ask for nothing at all, and the pod runs without a card; a name misspelt by a letter
or two is no resource of anybody (F35).
"""

from collections.abc import Collection, Iterable, Sequence

from scheduler_app.core import resource_keys
from scheduler_app.core.admission import PodDraft
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import Container


class LikelyMistakes:
    """What all vendors offer is gathered once: each pod is compared with it."""

    def __init__(self, backends: Collection[DeviceBackend]) -> None:
        self._offered = {name for backend in backends for name in backend.resources}
        self._sizes = [
            (backend, {name for name in (backend.names.mem, backend.names.cores) if name})
            for backend in backends
        ]

    def warn(self, draft: PodDraft, containers: Sequence[Container]) -> None:
        self._warn_of_annotations(draft)
        for container in containers:
            self._warn_of_missing_count(draft, container)
        self._warn_of_misspelt(draft, containers)

    def _warn_of_annotations(self, draft: PodDraft) -> None:
        """Name each resource that stands among the annotations, and the place where it belongs (W15)."""
        for key in sorted(self._offered & draft.annotations.keys()):
            draft.warn(f"annotation {key} has no effect: it belongs under resources.limits of a container")

    def _warn_of_missing_count(self, draft: PodDraft, container: Container) -> None:
        """Name the count that is missing where memory or cores are asked and no vendor reads a request."""
        named = container.limits.keys() | container.requests.keys()
        idle: list[tuple[str, set[str]]] = []
        served: set[str] = set()
        for backend, sizes in self._sizes:
            if not (parts := sizes & named):
                continue
            if backend.request(container) is not None:
                served |= parts
            elif (count := backend.names.count) and count not in named:
                idle.append((count, parts))
        for count, parts in idle:
            if not parts & served:
                draft.warn(f"container {container.name}: no cards without {count} in limits")

    def _warn_of_misspelt(self, draft: PodDraft, containers: Iterable[Container]) -> None:
        """Name each resource that is almost one of ours, with its container and what was meant (F35)."""
        named: dict[str, str] = {}
        for container in containers:
            for name in (*container.limits, *container.requests):
                named.setdefault(name, container.name)
        for name, meant in resource_keys.near_misses(named, self._offered):
            draft.warn(f"container {named[name]}: {name} is no resource of ours; is {meant} meant?")
