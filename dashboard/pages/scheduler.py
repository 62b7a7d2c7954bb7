"""Scheduler: who leads, what is loaded, what the last registration pass took (console.md 6.9)."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.access import require_cluster
from dashboard.live.hub import hub, now_ms
from dashboard.picture.problems import SOURCE_LATE_MS
from scheduler_app import selectors
from scheduler_app.core.errors import HamiError


def scheduler(request: HttpRequest) -> HttpResponse:
    require_cluster(request)
    picture, now = hub.mirror.picture, now_ms()
    sources = [
        {"view": source, "late": bool(source.seen_ms) and now - source.seen_ms > SOURCE_LATE_MS}
        for source in picture.sources
    ]
    context = {
        "leader": picture.leader,
        "lease_fresh": now - picture.leader.seen_ms <= picture.leader.duration_seconds * 1000,
        "sources": sources,
        "browsers": hub.browsers,
        "own": own_state(),
        "vendors": selectors.vendor_list(),
        "topics": ["summary"],
    }
    return render(request, "dashboard/scheduler.html", context)


def own_state() -> dict[str, Any] | None:
    """Return queues and history of this process; None for a console without a scheduler in it."""
    try:
        return selectors.scheduler_state()
    except HamiError:
        return None
