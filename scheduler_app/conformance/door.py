"""The extender's door without sockets: a request goes through Django's chain to the product's own views."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpResponseBase

from scheduler_app import bootstrap
from scheduler_app.conformance.world import World

Json = dict[str, Any]
URLCONF = "scheduler_app.extender.urls"
JSON_HEADERS = (("Content-Type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


class _Chain(BaseHandler):
    """What Django does between a request and a view, with no middleware at all."""

    def __init__(self) -> None:
        super().__init__()
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        self._middleware_chain = convert_exception_to_response(
            self._get_response  # type: ignore[attr-defined]  # the stubs lack it
        )


_chain = _Chain()


class Door:
    """One world's door. Opening it puts the world's parts where the views look for them."""

    def __init__(self, world: World) -> None:
        self.parts = world.parts()

    def call(
        self, method: str, path: str, *, body: bytes = b"", headers: Sequence[tuple[str, str]] = ()
    ) -> Answer:
        bootstrap.install(self.parts)
        response = _chain.get_response(_request(method, path, body, headers))
        names = ("Content-Type", "Allow", "Location", "X-Content-Type-Options")
        found = {name.lower(): response.headers[name] for name in names if name in response.headers}
        body_sent = b"" if method == "HEAD" else _content(response)  # the server sends none
        return Answer(response.status_code, found, body_sent)

    def post(self, path: str, body: Json) -> Json:
        """Send JSON and return the answer's."""
        answer = self.call("POST", path, body=orjson.dumps(body), headers=JSON_HEADERS)
        found: Json = orjson.loads(answer.body)
        return found


def _request(method: str, path: str, body: bytes, headers: Sequence[tuple[str, str]]) -> ASGIRequest:
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
    }
    request: Any = ASGIRequest(scope, io.BytesIO(body))
    request._body = body
    request.urlconf = URLCONF
    return request  # type: ignore[no-any-return]  # set attributes that stubs do not know


def _content(response: HttpResponseBase) -> bytes:
    return b"".join(response) if response.streaming else bytes(getattr(response, "content", b""))
