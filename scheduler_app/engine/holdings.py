"""Who holds what of which card, and what the vendors call it: read off the counted pods of a node."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scheduler_app.core import accounting
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import Allocation, Card, CardId, Placement, Pod, PodUid, VendorKey
from scheduler_app.engine.podbook import PodEntry

Place = tuple[PodUid, CardId]
Slices = dict[CardId, dict[Placement, str]]
"""Who has which instance of a card, ``"<namespace>/<name>"``."""


class Holding(NamedTuple):
    """What one pod holds of one card; ``containers`` are the names of those that share it."""

    pod: Pod
    vendor: VendorKey
    held: Allocation
    containers: tuple[str, ...]


def holdings(entries: Iterable[PodEntry]) -> Mapping[CardId, list[Holding]]:
    """Return who holds what, by card; nothing for cards that nobody holds."""
    found: dict[CardId, list[Holding]] = defaultdict(list)
    for entry in entries:
        names = _containers_on(entry)
        for vendor, containers in entry.devices.items():
            for container in containers:
                for held in container:
                    told = tuple(names.get(held.card, ()))
                    found[held.card].append(Holding(entry.pod, vendor, held, told))
    return found


def _containers_on(entry: PodEntry) -> dict[CardId, list[str]]:
    """Return which containers hold each card: segments are those of init containers first (P-8, F08).

    Init containers that have ended hold nothing any more (M-13); sidecars run on (Q-23).
    """
    found: dict[CardId, list[str]] = {}
    pod = entry.pod
    runs = [not (pod.init_succeeded and ends) for ends in accounting.init_flags(pod)]
    runs += [True] * len(pod.containers)
    for segments in entry.raw.values():
        for container, is_running, segment in zip(pod.all_containers, runs, segments, strict=False):
            for held in segment if is_running else ():
                names = found.setdefault(held.card, [])
                if container.name not in names:
                    names.append(container.name)
    return found


def parts(entries: Iterable[PodEntry], *, backends: Backends) -> dict[Place, list[str]]:
    """Return the vendors' names for what each pod holds of each card."""
    found: dict[Place, list[str]] = {}
    for entry in entries:
        for vendor, containers in entry.raw.items():
            part = backends[vendor].part
            for position, container in enumerate(containers):
                for held in container:
                    if name := part(entry.pod, position, held):
                        found.setdefault((entry.pod.uid, held.card), []).append(name)
    return found


def slices(entries: Iterable[PodEntry], *, cards: Iterable[Card], backends: Backends) -> Slices:
    """Return which pod has reserved which instance of cards that are cut into such."""
    found: Slices = defaultdict(dict)
    cut = [card for card in cards if card.profiles]
    if not cut:
        return found
    for entry in entries:
        for vendor, containers in entry.devices.items():
            effects = backends[vendor].slice_effects(entry.pod, containers, cut)
            for card, reserved in effects.slices.items():
                found[card].update(dict.fromkeys((one.placement for one in reserved), entry.pod.key))
    return found
