"""Quotas: one row per namespace and resource (console.md 6.6)."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from dashboard.access import sight_of
from dashboard.live.hub import hub
from dashboard.pages.lists import Listing, heads, sort_rows
from dashboard.picture import rows
from scheduler_app import selectors

COLUMNS = (
    ("namespace", _("Namespace"), False),
    ("resource", _("Resource"), False),
    ("used", _("Used"), True),
    ("limit", _("Limit"), True),
    ("full", _("Full"), True),
    ("pending", _("Waiting"), True),
    ("object", _("Object"), False),
)
SORTABLE = tuple(key for key, _label, _is_number in COLUMNS)


def quotas(request: HttpRequest) -> HttpResponse:
    picture, sight = hub.mirror.picture, sight_of(request.user)
    found = [rows.quota_row(quota, picture) for quota in picture.quotas if sight.sees(quota.namespace)]
    total, namespace = len(found), request.GET.get("namespace", "")
    found = [{**row, "full": (row["used"], row["limit"] or 0)} for row in found]
    found = [row for row in found if not namespace or row["namespace"] == namespace]
    ordered = sort_rows(found, request.GET.get("sort", "-full"), SORTABLE, default="-full")
    context = {
        "listing": Listing.of(request, ordered),
        "heads": heads(request, COLUMNS, default="-full"),
        "total": total,
        "namespaces": sorted({quota.namespace for quota in picture.quotas if sight.sees(quota.namespace)}),
        "namespace": namespace,
        "refusals": [row for row in selectors.refusals(namespace) if sight.sees(row["namespace"])],
        "topics": ["quotas", "summary"] if sight.is_cluster else [],
    }
    return render(request, "dashboard/quotas.html", context)
