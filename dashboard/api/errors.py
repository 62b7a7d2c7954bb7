"""REST: every error has one shape, ``{"message", "code", "field"}``."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response


class NotSynced(exceptions.APIException):
    """Nothing is known yet: an empty list would be a lie."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "the scheduler has not read the cluster yet"
    default_code = "not_synced"


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn an exception into the answer; None for what is a fault of ours."""
    if isinstance(error, Http404):
        error = exceptions.NotFound("no such object, or none you may see")
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if not isinstance(error, exceptions.APIException):
        return None
    field, message, code = _read(error)
    body = {"message": message, "code": code} | ({"field": field} if field else {})
    response = Response(body, status=error.status_code)
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(int(wait))
    return response


def _read(error: exceptions.APIException) -> tuple[str, str, str]:
    detail = error.detail
    if isinstance(detail, dict):
        field, problems = next(iter(detail.items()))
        first = problems[0] if isinstance(problems, list) else problems
        return str(field), str(first), str(getattr(first, "code", "invalid"))
    if isinstance(detail, list):
        return "", str(detail[0]), str(getattr(detail[0], "code", "invalid"))
    return "", str(detail), str(detail.code)
