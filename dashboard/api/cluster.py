"""REST: summary, nodes, GPUs."""

from typing import Any

from django.http import Http404, HttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.access import SeesCluster
from dashboard.api.envelope import head, known_picture, listed
from dashboard.live.hub import now_ms
from dashboard.pages import nodes
from dashboard.pages.lists import sort_rows
from dashboard.picture import rows
from dashboard.picture.summary import summary


class SummaryApi(APIView):
    permission_classes = [SeesCluster]

    def get(self, request: Request) -> Response:
        picture = known_picture()
        return Response({**head(picture), **summary(picture, now_ms())})


class NodeListApi(APIView):
    permission_classes = [SeesCluster]

    def get(self, request: Request) -> Response:
        picture = known_picture()
        sort = request.query_params.get("sort", "name")
        if sort.removeprefix("-") not in nodes.SORTABLE:
            raise ValidationError({"sort": f"expected one of {', '.join(nodes.SORTABLE)}"})
        found = nodes.select(rows.node_rows(picture), request.query_params)
        found = sort_rows(found, sort, nodes.SORTABLE, default="name")
        return listed(request, [_only(request, node_json(row)) for row in found], picture)


class NodeApi(APIView):
    permission_classes = [SeesCluster]

    def get(self, request: Request, name: str) -> Response:
        picture = known_picture()
        if (view := picture.nodes.get(name)) is None:
            raise Http404
        detail = node_json(rows.node_detail(view, picture.digests[name]))
        gpus = detail.pop("cards")
        allocations = [{**share, "gpu_id": gpu["id"]} for gpu in gpus for share in gpu["pods"]]
        return Response(
            {
                **head(picture),
                **detail,
                "gpus": gpus,
                "allocations": allocations,
                "refusals": nodes.refusals(name),
                "health": nodes.health(view),
            }
        )


class GpuListApi(APIView):
    permission_classes = [SeesCluster]

    def get(self, request: Request) -> Response:
        picture = known_picture()
        found = [
            gpu_json(rows.card_row(card, node)) for node in picture.nodes.values() for card in node.cards
        ]
        for name in ("node", "vendor", "model", "id"):
            if value := request.query_params.get(name):
                found = [row for row in found if row[name] == value]
        return listed(request, found, picture)


def node_json(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for scripts: ages instead of moments, no keys of the page."""
    kept = {key: value for key, value in row.items() if key not in ("id", "registered_ms")}
    at = row["registered_ms"]
    return {**kept, "registered_age_ms": now_ms() - at if at else None}


def gpu_json(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "pods": [share["pod"] for share in row["pods"]]}


def _only(request: Request, row: dict[str, Any]) -> dict[str, Any]:
    names = request.query_params.get("fields")
    return {name: row[name] for name in names.split(",") if name in row} if names else row


def text(body: str) -> HttpResponse:
    return HttpResponse(body, content_type="text/plain; charset=utf-8")
