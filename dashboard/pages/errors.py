"""The pages for what went wrong. They name no object: "not there" and "not yours" look alike."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    return _error(request, 500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _error(request, 403)


def _error(request: HttpRequest, status: int) -> HttpResponse:
    context = {"status": status, "request_id": uuid.uuid4().hex[:12]}
    return render(request, "dashboard/error.html", context, status=status)
