"""The metrics door: ``/metrics``, streamed in pieces so that ``/filter`` never waits for it."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from prometheus_client import generate_latest

from scheduler_app import bootstrap, metrics
from scheduler_app.exposition import CONTENT_TYPE, DuplicateSampleError

logger = logging.getLogger(__name__)
REST_SECONDS = 0.001
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


def pieces() -> Iterator[bytes]:
    """Yield the reference's families, then our own and the site's."""
    parts = bootstrap.parts()
    state = parts.state
    for text in parts.exposition.chunks(state.overview, state.pods(), state.quotas()):
        yield text.encode()
    yield generate_latest()


async def application(scope: Mapping[str, Any], receive: Any, send: Send) -> None:
    """Serve ``/metrics`` to every method, and nothing else (H-4)."""
    if scope["type"] != "http":
        return
    if scope["path"] != "/metrics":
        await _plain(send, 404, b"404 page not found\n")
        return
    stream = pieces()
    try:
        first = _first(stream)
    except DuplicateSampleError as exc:
        text = f"An error has occurred while serving metrics:\n\n{exc}\n"
        await _plain(send, 500, text.encode())
        return
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", CONTENT_TYPE.encode())],
        }
    )
    for piece in chain([first], stream):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        _give_way()
    await send({"type": "http.response.body", "body": b""})


def _first(stream: Iterator[bytes]) -> bytes:
    """Return the first piece with text in it; the empty ones before it are rests while the text is made."""
    while not (piece := next(stream)):
        _give_way()
    return piece


def _give_way() -> None:
    """Let other threads run; longer while ``/filter`` is being answered, for which somebody waits.

    The door has a thread and an event loop of its own, in which nobody else waits.
    """
    time.sleep(REST_SECONDS if metrics.FILTERS_RUNNING.count else 0)


async def _plain(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
