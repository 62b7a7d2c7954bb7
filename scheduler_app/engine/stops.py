"""Which container of a pod that asks with several did not fit, and where (console.md 6.2).

Containers are tried in their order, so a node that refuses a later one had room for those before it.
"""

from collections.abc import Mapping
from heapq import nsmallest
from types import MappingProxyType
from typing import Final

from scheduler_app.core.decision import Decision
from scheduler_app.core.publication import StopView

EXAMPLES = 5
NO_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})


def refused_containers(decision: Decision) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the containers that were refused with each text; empty if only one asks."""
    if not _asks_with_several(decision):
        return NO_NAMES
    names = _names(decision)
    found = decision.findings.containers
    return {text: tuple(names[place] for place in places) for text, places in found.items()}


def stops(decision: Decision) -> tuple[StopView, ...]:
    """Return at which container which nodes refused the pod, the nearest first; empty if only one asks."""
    if not _asks_with_several(decision):
        return ()
    names = _names(decision)
    return tuple(
        StopView(
            names[place],
            sum(map(bool, decision.requests[:place])),
            len(nodes),
            tuple(nsmallest(EXAMPLES, nodes)),
        )
        for place, nodes in sorted(decision.findings.by_container.items(), reverse=True)
    )


def _asks_with_several(decision: Decision) -> bool:
    return sum(map(bool, decision.requests)) > 1


def _names(decision: Decision) -> list[str]:
    return [container.name for container in decision.pod.all_containers]
