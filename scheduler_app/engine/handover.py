"""What a decision writes to its pod: annotations that hand the cards to the node, and one label.

A new decision clears what an earlier one wrote and it does not write again (Q-37, Q-39).
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from scheduler_app.core import annotations
from scheduler_app.core.decision import NodeFit
from scheduler_app.core.ports import Annotations
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import NodeName, Pod
from scheduler_app.engine.podbook import PodEntry

LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


def own_keys(backends: Backends) -> set[str]:
    """Return every pod annotation that only a decision may write."""
    keys = {key for backend in backends.values() for key in backend.written_keys}
    return keys | {annotations.ASSIGNED_NODE, annotations.ASSIGNED_TIME}


class Handover:
    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        self.own_keys = frozenset(own_keys(backends))

    def annotations(
        self, pod: Pod, chosen: NodeFit, *, taken: PodEntry | None, now: float
    ) -> dict[str, str | None]:
        """Return what is written for the winner, None for keys that are no longer used (Q-37)."""
        written: dict[str, str | None] = {
            annotations.ASSIGNED_NODE: str(chosen.node),
            annotations.ASSIGNED_TIME: str(int(now)),
        }
        carrying = carrying_too(pod, written)
        for vendor in sorted(chosen.devices):
            backend = self._backends[vendor]
            written.update(backend.annotations(carrying, chosen.devices[vendor], now_ns=int(now * 1e9)))
        return self.stale(pod, taken=taken, written=written) | written

    def stale(self, pod: Pod, *, taken: PodEntry | None, written: Annotations) -> dict[str, str | None]:
        """Return our own keys that the pod carries, as the caller's copy or our last decision shows it."""
        carried = pod.annotations.keys() | (taken.pod.annotations.keys() if taken else set())
        return dict.fromkeys(sorted(self.own_keys & carried - written.keys()))

    def items(self, pod: Pod) -> set[str]:
        """Return the items of people's annotations: one that is a card's id names that card."""
        told = (text for key, text in pod.annotations.items() if key not in self.own_keys)
        return {item.strip() for text in told for item in text.split(",")}


def label(pod: Pod, node: NodeName) -> Mapping[str, str | None] | None:
    """Return the label to write: an earlier one goes where the node's name is no label value (Q-27)."""
    if LABEL_VALUE.fullmatch(node):
        return {annotations.ASSIGNED_NODE: str(node)}
    return {annotations.ASSIGNED_NODE: None} if annotations.ASSIGNED_NODE in pod.labels else None


def carrying_too(pod: Pod, written: Annotations) -> Pod:
    """Return the pod as it will look once ``written`` is merged."""
    merged = {**pod.annotations, **written}
    return replace(pod, annotations={key: value for key, value in merged.items() if value is not None})
