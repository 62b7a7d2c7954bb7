"""REST: topology and snapshot, the two bodies that the live feed stands on (console.md 7.3)."""

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from dashboard.access import sight_of
from dashboard.api.envelope import known_picture
from dashboard.live import snapshots
from dashboard.live.consumer import MAX_TOPICS
from dashboard.live.hub import hub
from dashboard.live.snapshots import Packed


class TopologyApi(APIView):
    def get(self, request: Request) -> HttpResponse:
        if not sight_of(request.user).allows("fleet"):
            raise PermissionDenied
        return packed(request, snapshots.topology(known_picture()))


class SnapshotApi(APIView):
    """``?topics=summary,fleet``. Topics that one may not see are refused, not left out."""

    def get(self, request: Request) -> HttpResponse:
        topics = request.query_params.get("topics", "summary").split(",")[:MAX_TOPICS]
        sight = sight_of(request.user)
        if not all(sight.allows(topic) for topic in topics):
            raise PermissionDenied
        return packed(request, snapshots.snapshot(known_picture(), hub.summary, tuple(sorted(set(topics)))))


def packed(request: Request, found: Packed) -> HttpResponse:
    """Answer the compressed bytes, or 304 to who has them."""
    if request.headers.get("If-None-Match") == found.etag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(found.body, content_type="application/json")
        response["Content-Encoding"] = "gzip"
    response["ETag"] = found.etag
    response["Cache-Control"] = "private, no-cache"
    return response
