"""What a pod's author most likely meant otherwise: said as warnings at admission, and changed by nobody.

A card's memory written as an annotation is ignored and the pod gets a whole card (W15); memory or cores
without a number of cards ask for nothing at all, and the pod runs without a card; a name misspelt by a letter
or two is no resource of anybody (F35).
"""

from collections.abc import Iterable

from scheduler_app.core import resource_keys
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import Container


def warn_of_annotations(draft: PodDraft, backends: Iterable[DeviceBackend]) -> None:
    """Name each resource that stands among the annotations, and the place where it belongs."""
    offered = {name for backend in backends for name in backend.resources}
    for key in sorted(offered & draft.annotations.keys()):
        draft.warn(f"annotation {key} has no effect: it belongs under resources.limits of a container")


def warn_of_missing_count(
    draft: ContainerDraft, container: Container, backends: Iterable[DeviceBackend]
) -> None:
    """Name the count that is missing where memory or cores are asked and no vendor reads a request of it."""
    idle = []
    served: set[str] = set()
    for backend in backends:
        names = backend.names
        parts = {name for name in (names.mem, names.cores) if draft.has(name)}
        if backend.request(container) is not None:
            served |= parts
        elif parts and names.count and not draft.has(names.count):
            idle.append((names.count, parts))
    for count, parts in idle:
        if not parts & served:
            draft.pod.warn(f"container {draft.name}: no cards without {count} in limits")


def warn_of_misspelt(
    draft: PodDraft, containers: Iterable[Container], backends: Iterable[DeviceBackend]
) -> None:
    """Name each resource that is almost one of ours, with its container and what was meant (F35)."""
    named: dict[str, str] = {}
    for container in containers:
        for name in (*container.limits, *container.requests):
            named.setdefault(name, container.name)
    offered = {name for backend in backends for name in backend.resources}
    for name, meant in resource_keys.near_misses(named, offered):
        draft.warn(f"container {named[name]}: {name} is no resource of ours; is {meant} meant?")
