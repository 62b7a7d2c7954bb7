"""Overview: verdict, problems, who waits, where is room; or "My namespaces" (console.md 6.1, 6.10)."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard import wording
from dashboard.access import sight_of
from dashboard.live.hub import hub, now_ms
from dashboard.picture import rows
from dashboard.picture.causes import group_causes
from dashboard.picture.summary import cause_json, summary

SHOWN_DECISIONS = 8


def overview(request: HttpRequest) -> HttpResponse:
    sight, picture = sight_of(request.user), hub.mirror.picture
    if not sight.is_cluster:
        return my_namespaces(request)
    numbers = summary(picture, now_ms())
    context = {
        "s": numbers,
        "all_well": wording.all_well(numbers, now_ms()),
        "decisions": [rows.decision_row(decision) for decision in picture.decisions[:SHOWN_DECISIONS]],
        "topics": ["summary", "decisions"],
    }
    return render(request, "dashboard/overview.html", context)


def my_namespaces(request: HttpRequest) -> HttpResponse:
    sight, picture = sight_of(request.user), hub.mirror.picture
    pods = [pod for pod in picture.pending.values() if sight.sees(pod.namespace)]
    context = {
        "pods": [rows.pending_row(pod) for pod in sorted(pods, key=lambda pod: pod.since_ms)],
        "causes": [cause_json(cause) for cause in group_causes(pods)],
        "quotas": [rows.quota_row(q, picture) for q in picture.quotas if sight.sees(q.namespace)],
        "namespaces": sorted(sight.namespaces),
        "topics": [f"ns:{namespace}" for namespace in sorted(sight.namespaces)[:30]],
    }
    return render(request, "dashboard/my_namespaces.html", context)
