"""The extender's door: raw ASGI in front, Django's whole synchronous chain behind, one thread hop a request.

Django's own ASGI handler costs a millisecond a request (hops, a new thread a request, signals sent both
ways); this keeps URLconf, DRF views, responses and signals and leaves the rest out. Each verb has a pool
of its own, so that binds that wait for a node never hold a thread that ``/filter`` needs.
"""

import asyncio
import io
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core import signals
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse

from scheduler_app import metrics

logger = logging.getLogger(__name__)
MIB = 1024 * 1024
GONE = "client went away"
BODY_SECONDS = 60.0  # H-1: the whole request must have arrived by then
Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Verb:
    """How one path is served: threads of its own (0: in the event loop) and the largest body it takes."""

    threads: int
    limit_bytes: int


VERBS = {
    "/filter": Verb(threads=4, limit_bytes=64 * MIB),
    "/bind": Verb(threads=512, limit_bytes=8 * MIB),
    "/webhook": Verb(threads=4, limit_bytes=8 * MIB),
}
OTHER = Verb(threads=0, limit_bytes=MIB)


class Bridge(BaseHandler):
    """An ASGI application that serves one URLconf. Its pools start threads only when a request needs one."""

    def __init__(self, urlconf: str) -> None:
        super().__init__()
        self._urlconf = urlconf
        self._pools = {
            path: ThreadPoolExecutor(verb.threads, thread_name_prefix=path[1:])
            for path, verb in VERBS.items()
        }
        whole = settings.MIDDLEWARE
        settings.MIDDLEWARE = []
        try:
            self.load_middleware(is_async=False)
        finally:
            settings.MIDDLEWARE = whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        verb = VERBS.get(scope["path"], OTHER)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read(receive, verb.limit_bytes)
        except (TimeoutError, ConnectionError):
            return  # the peer went away or never finished; there is nobody to answer
        if body is None:
            await _answer(send, _too_large(verb.limit_bytes))
            return
        pool = self._pools.get(scope["path"])
        if pool is None:
            response = self._respond(scope, body)
        else:
            response = await asyncio.get_running_loop().run_in_executor(pool, self._respond, scope, body)
        try:
            if pool is not None and await _has_gone(receive):
                raise ConnectionError(GONE)
            await _answer(send, response, is_head=scope["method"] == "HEAD")
        except OSError as exc:
            _undelivered(scope["path"], exc)

    def _respond(self, scope: Scope, body: bytes) -> Any:
        """Run Django's chain in this thread; a broken view still gets an answer."""
        signals.request_started.send(sender=type(self), scope=scope)
        try:
            request: Any = ASGIRequest(dict(scope), io.BytesIO(body))
            request._body = body  # the views take the bytes as they came; the size was checked above
            request.urlconf = self._urlconf
            response = self.get_response(request)
        except Exception:  # the border of the request: nobody above could answer
            logger.exception("request failed path=%s", scope["path"])
            response = HttpResponse('{"Error":"internal error"}', status=500, content_type="application/json")
        response.close()  # sends request_finished
        return response

    def shutdown(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=False)


async def _has_gone(receive: Receive) -> bool:
    """Say whether the client has closed the connection; servers drop what is sent then in silence (K16)."""
    try:
        async with asyncio.timeout(0):
            return bool((await receive())["type"] == "http.disconnect")
    except TimeoutError:
        return False


def _undelivered(path: str, why: OSError) -> None:
    """Note an answer that nobody got. What was decided stands: it is written, and the next call finds it."""
    metrics.UNDELIVERED.labels(path[1:] if path in VERBS else metrics.OTHER).inc()
    logger.warning("answer not delivered path=%s error=%s", path, why)


async def _read(receive: Receive, limit_bytes: int) -> bytes | None:
    """Return the body, None when it is larger than allowed.

    Raises:
        ConnectionError: the client went away.
    """
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError(GONE)
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= limit_bytes:
            chunks.append(chunk)
        else:
            chunks.clear()
        if not message.get("more_body", False):
            return b"".join(chunks) if size <= limit_bytes else None


def _too_large(limit_bytes: int) -> HttpResponse:
    text = json.dumps({"Error": f"request body is larger than {limit_bytes} bytes"})
    return HttpResponse(text, status=413, content_type="application/json")


async def _answer(send: Send, response: Any, *, is_head: bool = False) -> None:
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    content = response.content
    headers.append((b"content-length", str(len(content)).encode("ascii")))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if is_head else content})
