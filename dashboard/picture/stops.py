"""At which of its containers a pod that asks with several was refused, in words (console.md 6.2)."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from scheduler_app.core.publication import PendingPod, StopView

SHOWN_NODES = 3


def sentence(pod: PendingPod) -> str:
    """Return which container fails on how many nodes, the nearest named; empty where only one asks."""
    if not pod.stops:
        return ""
    nearest, *others = pod.stops
    if others:
        return _different(nearest, others)
    untried = sum(group.nodes for group in pod.groups) - nearest.nodes
    return _same(nearest, untried=max(untried, 0))


def _same(stop: StopView, *, untried: int) -> str:
    if untried:
        text = ngettext(
            "{n} node fails at container {name}, the others have no GPU registered.",
            "{n} nodes fail at container {name}, the others have no GPU registered.",
            stop.nodes,
        )
    else:
        text = ngettext(
            "{n} node was asked and fails at container {name}.",
            "All {n} nodes fail at container {name}.",
            stop.nodes,
        )
    return text.format(n=stop.nodes, name=stop.container)


def _different(nearest: StopView, others: list[StopView]) -> str:
    text = ngettext(
        "Nearest: {n} node ({nodes}), which fails at container {name}; others fail before it: {others}.",
        "Nearest: {n} nodes ({nodes}), which fail at container {name}; others fail before it: {others}.",
        nearest.nodes,
    )
    told = [_("{n} at {name}").format(n=stop.nodes, name=stop.container) for stop in others]
    return text.format(n=nearest.nodes, nodes=_names(nearest), name=nearest.container, others=", ".join(told))


def _names(stop: StopView) -> str:
    shown = stop.examples[:SHOWN_NODES]
    return ", ".join(shown) + (", …" if stop.nodes > len(shown) else "")


def rows(pod: PendingPod) -> list[dict[str, Any]]:
    """Return the same for scripts, the nearest nodes first."""
    return [
        {
            "container": stop.container,
            "fitted_before": stop.fitted,
            "nodes": stop.nodes,
            "examples": stop.examples,
        }
        for stop in pod.stops
    ]
