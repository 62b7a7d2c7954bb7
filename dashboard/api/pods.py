"""REST: pending pods, and why one waits."""

from django.http import Http404, HttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.access import sight_of
from dashboard.api.cluster import text
from dashboard.api.envelope import head, known_picture, listed
from dashboard.live.hub import now_ms
from dashboard.pages import pending
from dashboard.picture import answer, rows
from dashboard.picture.causes import group_causes
from dashboard.picture.summary import cause_json


class PendingApi(APIView):
    def get(self, request: Request) -> Response:
        picture = known_picture()
        seen = pending.visible(picture, sight_of(request.user))
        by = request.query_params.get("by", "pod")
        if by == "cause":
            return listed(request, [cause_json(cause) for cause in group_causes(seen)], picture)
        if by != "pod":
            raise ValidationError({"by": "expected cause or pod"})
        found = pending.select([rows.pending_row(pod) for pod in seen], request.query_params, now=now_ms())
        return listed(request, sorted(found, key=lambda row: (row["since"], row["uid"])), picture)


class WhyApi(APIView):
    """``?format=text`` answers ten lines for a terminal."""

    def get(self, request: Request, namespace: str, name: str) -> Response | HttpResponse:
        picture, sight = known_picture(), sight_of(request.user)
        pod = pending.find_pod(picture, sight, namespace=namespace, name=name)
        if pod is None:
            raise Http404
        if request.query_params.get("format") == "text":
            return text(answer.as_text(pod, picture, now_ms=now_ms()))
        return Response({**head(picture), **answer.why(pod, picture)})
