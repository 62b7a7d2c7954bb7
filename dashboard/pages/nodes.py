"""Nodes, and one node (console.md 6.5)."""

import shlex
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from dashboard.access import require_cluster
from dashboard.live.hub import hub, now_ms
from dashboard.pages.lists import Listing, heads, sort_rows
from dashboard.picture import problems, rows
from dashboard.picture.packing import strips
from scheduler_app import selectors
from scheduler_app.core import annotations
from scheduler_app.core.publication import NodeView

COLUMNS = (
    ("name", _("Node"), False),
    ("state", _("State"), False),
    ("model", _("GPUs"), False),
    ("mem_mib", _("Memory"), True),
    ("cores_percent", _("Cores"), True),
    ("shares", _("Shares"), True),
    ("pods", _("Pods"), True),
    ("largest_free_mib", _("Largest free"), True),
    ("registered_ms", _("Registered"), True),
)
SORTABLE = tuple(key for key, _label, _is_number in COLUMNS)
STATES = ("ok", "unhealthy", "silent", "gone", "unregistered", "cordoned")


def node_list(request: HttpRequest) -> HttpResponse:
    require_cluster(request)
    everything = rows.node_rows(hub.mirror.picture)
    found = sort_rows(
        select(everything, request.GET), request.GET.get("sort", "name"), SORTABLE, default="name"
    )
    context = {
        "listing": Listing.of(request, found),
        "heads": heads(request, COLUMNS, default="name"),
        "total": len(everything),
        "models": sorted({row["model"] for row in everything if row["model"]}),
        "states": STATES,
        "filters": {name: request.GET.get(name, "") for name in ("q", "state", "model")},
        "topics": ["nodes", "summary"],
    }
    return render(request, "dashboard/nodes.html", context)


def select(found: list[dict[str, Any]], query: Any) -> list[dict[str, Any]]:
    """Keep the rows that the query's ``state``, ``model``, ``vendor``, ``pool`` and ``q`` ask for."""
    for name in ("state", "model", "vendor", "pool"):
        if value := query.get(name, ""):
            found = [row for row in found if row[name] == value]
    text = query.get("q", "").strip().lower()
    return [row for row in found if text in f"{row['name']} {row['model']} {row['pool']}".lower()]


def node(request: HttpRequest, name: str) -> HttpResponse:
    require_cluster(request)
    picture = hub.mirror.picture
    view = picture.nodes.get(name)
    if view is None:
        raise Http404
    context = {
        "node": rows.node_detail(view, picture.digests[name]),
        "view": view,
        "strips": strips(view),
        "lock": problems.read_lock(view.lock),
        "lock_limit_ms": problems.LOCK_TIMEOUT_MS,
        "now_ms": now_ms(),
        "refusals": refusals(name),
        "health": health(view),
        "commands": commands(name, [card.id for card in view.cards if not card.healthy]),
        "topics": [f"node:{name}", "summary"],
    }
    return render(request, "dashboard/node.html", context)


def refusals(name: str) -> list[dict[str, Any]]:
    """Return why waiting pods were refused here, as far as the last tries name this node."""
    counts: dict[str, int] = {}
    for pod in hub.mirror.picture.pending.values():
        for group in pod.groups:
            if name in group.examples:
                counts[group.text] = counts.get(group.text, 0) + 1
    return [{"text": text, "pods": pods} for text, pods in sorted(counts.items(), key=lambda item: -item[1])]


def health(view: NodeView) -> list[dict[str, Any]]:
    """Return when GPUs of a node fell ill and recovered, newest first (N18).

    ``at`` is epoch ms, ``index`` None for a GPU that left. What the picture shows and history has not written
    yet comes first; its ``at`` is None.
    """
    found = selectors.health_changes(view.name)
    last = {row["gpu_id"]: row["healthy"] for row in reversed(found)}
    ahead = [
        {"at": None, "gpu_id": card.id, "healthy": card.healthy}
        for card in view.cards
        if last.get(card.id, True) is not card.healthy
    ]
    places = {card.id: card.index for card in view.cards}
    return [{**row, "index": places.get(row["gpu_id"])} for row in ahead + found]


def commands(name: str, sick: list[str]) -> list[tuple[Any, str]]:
    """Return what an admin may want to type, ready to copy; the console itself changes nothing."""
    quoted = shlex.quote(name)
    found = [
        (_("Cordon the node"), f"kubectl cordon {quoted}"),
        (
            _("Restart the device plugin"),
            "kubectl -n kube-system delete pod -l app.kubernetes.io/component=hami-device-plugin"
            f" --field-selector spec.nodeName={quoted}",
        ),
        (_("Remove the node lock"), f"kubectl annotate node {quoted} {annotations.NODE_LOCK}-"),
    ]
    if sick:
        value = shlex.quote(",".join(sick))
        found.insert(
            1, (_("Cordon sick GPUs"), f"kubectl annotate node {quoted} {annotations.DEVICE_CORDON}={value}")
        )
    return found
