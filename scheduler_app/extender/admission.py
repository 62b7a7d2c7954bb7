"""/webhook: AdmissionReview in, AdmissionReview out, always with HTTP status 200 (W-1)."""

import logging
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.request import Request

from scheduler_app import bootstrap, metrics
from scheduler_app.engine.admission import Verdict
from scheduler_app.extender import review
from scheduler_app.extender.views import WireView

logger = logging.getLogger(__name__)


class WebhookView(WireView):
    def post(self, request: Request) -> HttpResponse:
        body = request._request.body
        content_type = request._request.META.get("CONTENT_TYPE", "")
        refused = review.refuse_transport(body, content_type)
        if refused is not None:
            return _reply(refused)
        parsed = review.parse(body)
        if not isinstance(parsed, review.Review):
            return _reply(parsed)
        return _reply(review.answer(parsed, self._verdict(parsed)))

    def _verdict(self, parsed: review.Review) -> Verdict:
        """Decide; whatever goes wrong inside is answered with code 500, as the API server expects (W-3)."""
        try:
            with metrics.ADMISSION_SECONDS.time():
                return bootstrap.parts().admission.review(
                    parsed.object, namespace=parsed.namespace, is_new=parsed.is_new
                )
        except Exception as exc:  # the border of the request
            logger.exception("admission failed uid=%s", parsed.uid)
            return Verdict(500, f"internal error: {type(exc).__name__}")


def _reply(body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE), content_type="application/json")
