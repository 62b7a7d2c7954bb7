"""REST: quotas, decisions, the scheduler's own state."""

from dataclasses import asdict

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.access import SeesCluster, sight_of
from dashboard.api.envelope import head, known_picture, listed
from dashboard.live.hub import hub
from dashboard.pages import decisions
from dashboard.picture import rows


class QuotaListApi(APIView):
    def get(self, request: Request) -> Response:
        picture, sight = known_picture(), sight_of(request.user)
        namespace = request.query_params.get("namespace", "")
        found = [rows.quota_row(quota, picture) for quota in picture.quotas if sight.sees(quota.namespace)]
        return listed(request, [row for row in found if namespace in ("", row["namespace"])], picture)


class DecisionListApi(APIView):
    def get(self, request: Request) -> Response:
        picture = known_picture()
        found = decisions.select(decisions.recent(sight_of(request.user)), request.query_params)
        return listed(request, found, picture)


class SchedulerApi(APIView):
    permission_classes = [SeesCluster]

    def get(self, request: Request) -> Response:
        picture = known_picture()
        return Response(
            {
                **head(picture),
                "lease": asdict(picture.leader),
                "informers": [asdict(source) for source in picture.sources],
                "registration": {"at_ms": picture.last_pass_ms, "duration_ms": picture.last_pass_duration_ms},
                "browsers": hub.browsers,
            }
        )
