"""Pending pods by cause and by pod, and one pod's "why" (console.md 6.2, 6.3)."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from dashboard import wording
from dashboard.access import Sight, sight_of
from dashboard.live.hub import hub, now_ms
from dashboard.pages.lists import Listing, heads, sort_rows
from dashboard.picture import answer, notes, policies, rows, verdict
from dashboard.picture.causes import group_causes
from dashboard.picture.model import Picture
from dashboard.picture.problems import WAIT_LIMIT_MS
from dashboard.picture.summary import cause_json
from scheduler_app.core.publication import PendingPod

COLUMNS = (
    ("name", _("Pod"), False),
    ("ask", _("Asks"), False),
    ("cause", _("Reason"), False),
    ("nodes", _("Refused by"), True),
    ("tries", _("Tries"), True),
    ("last_try", _("Last try"), True),
    ("since", _("Waits for"), True),
)
SORTABLE = tuple(key for key, _label, _is_number in COLUMNS)


def pending(request: HttpRequest) -> HttpResponse:
    sight, picture = sight_of(request.user), hub.mirror.picture
    seen = visible(picture, sight)
    found = [rows.pending_row(pod) for pod in seen]
    chosen = select(found, request.GET, now=now_ms())
    ordered = sort_rows(chosen, request.GET.get("sort", "since"), SORTABLE, default="since")
    context = {
        "by_pod": request.GET.get("by") == "pod",
        "causes": [cause_json(cause) for cause in group_causes(seen)],
        "listing": Listing.of(request, ordered),
        "heads": heads(request, COLUMNS, default="since"),
        "total": len(found),
        "cause_words": sorted({row["cause"] for row in found}),
        "namespaces": sorted({row["ns"] for row in found}),
        "filters": {name: request.GET.get(name, "") for name in ("q", "cause", "namespace", "over")},
        "topics": topics(sight),
    }
    return render(request, "dashboard/pending.html", context)


def topics(sight: Sight) -> list[str]:
    return (
        ["pending", "summary"]
        if sight.is_cluster
        else [f"ns:{name}" for name in sorted(sight.namespaces)[:30]]
    )


def visible(picture: Picture, sight: Sight) -> list[PendingPod]:
    return [pod for pod in picture.pending.values() if sight.sees(pod.namespace)]


def select(found: list[dict[str, Any]], query: Any, *, now: int) -> list[dict[str, Any]]:
    """Keep the rows that the query's ``cause``, ``namespace``, ``over`` (minutes) and ``q`` ask for."""
    if cause := query.get("cause", ""):
        found = [row for row in found if row["cause"] == cause]
    if namespace := query.get("namespace", ""):
        found = [row for row in found if row["ns"] == namespace]
    if (over := query.get("over", "")).isdigit():
        found = [row for row in found if now - row["since"] > int(over) * 60_000]
    text = query.get("q", "").strip().lower()
    return [row for row in found if text in f"{row['ns']}/{row['name']} {row['owner']} {row['ask']}".lower()]


def find_pod(picture: Picture, sight: Sight, *, namespace: str, name: str) -> PendingPod | None:
    """Return the waiting pod of this name; a namespace out of sight looks like a pod that is not there."""
    if not sight.sees(namespace):
        return None
    pods = picture.pending.values()
    return next((pod for pod in pods if pod.namespace == namespace and pod.name == name), None)


def placements(picture: Picture, *, namespace: str, name: str) -> list[dict[str, Any]]:
    """Return what a running pod of this name holds, GPU by GPU, then what its nodes do not register."""
    held = [
        {**share, "node": node.name, "model": card.model, "gpu_id": card.id}
        for node in picture.nodes.values()
        for card in node.cards
        for share in (rows.share_row(card, number) for number in range(len(card.pods)))
        if share["namespace"] == namespace and share["name"] == name
    ]
    return held + [
        {**rows.orphan_row(orphan), "node": node.name, "is_orphan": True}
        for node in picture.nodes.values()
        for orphan in node.orphans
        if (orphan.pod.namespace, orphan.pod.name) == (namespace, name)
    ]


def pod(request: HttpRequest, namespace: str, name: str) -> HttpResponse:
    picture, sight = hub.mirror.picture, sight_of(request.user)
    waiting = find_pod(picture, sight, namespace=namespace, name=name)
    held = placements(picture, namespace=namespace, name=name) if sight.sees(namespace) else []
    if waiting is None and not held:
        raise Http404
    context = {
        "namespace": namespace,
        "name": name,
        "held": held,
        "topics": [f"ns:{namespace}"],
        **_tries(picture, waiting, namespace=namespace, name=name),
        **(_waiting(waiting, picture) if waiting else {}),
    }
    return render(request, "dashboard/pod.html", context)


def _tries(picture: Picture, waiting: PendingPod | None, *, namespace: str, name: str) -> dict[str, Any]:
    """Return the decisions about pods of this name, and by which policies the newest was made.

    A pod that waits may have the name of a former one, whose policies say nothing of it.
    """
    found = [d for d in picture.decisions if (d.namespace, d.pod) == (namespace, name)]
    told: dict[str, Any] = {"decisions": [rows.decision_row(decision) for decision in found]}
    if not found or (waiting and waiting.uid != found[0].uid):
        return told
    told["policies"] = policies.policy_lines(found[0], owner=waiting.owner if waiting else None)
    return told | {"score": policies.score_text(found[0])}


def _waiting(waiting: PendingPod, picture: Picture) -> dict[str, Any]:
    return {
        "pod": rows.pending_row(waiting),
        "view": waiting,
        "verdict": verdict.verdict(waiting, picture),
        "notes": notes.notes(waiting, picture),
        "journey": verdict.journey(waiting),
        "funnel": verdict.funnel(waiting, picture),
        "groups": verdict.groups(waiting),
        "words_met": [(word, wording.cause_text(word)) for word in verdict.words_of(waiting)],
        "text": answer.as_text(waiting, picture, now_ms=now_ms()),
        "is_long": now_ms() - waiting.since_ms > WAIT_LIMIT_MS,
    }


def why(request: HttpRequest) -> HttpResponse:
    """Lead ``/why?pod=<ns>/<name>``, the short form for chats and alerts, to the pod."""
    namespace, _slash, name = request.GET.get("pod", "").partition("/")
    if not (namespace and name):
        raise Http404
    return redirect("pod", namespace=namespace, name=name)
