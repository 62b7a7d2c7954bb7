"""A small HTTP/1.1 server: one event loop in one thread, so that a hundred idle watches cost nothing."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote

import httptools

START_SECONDS = 5.0
_LAST_TURNS = 8  # of the loop: a connection accepted last is made, aborted and closed within them


@dataclass(slots=True)
class Request:
    """One request; header names are lower case, of a repeated query parameter the last value stands."""

    method: str = ""
    path: str = ""
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    target: str = ""


@dataclass(slots=True)
class Reply:
    """A whole answer, or with chunks one that is sent piece by piece until they end."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: list[tuple[str, str]] = field(default_factory=list)
    chunks: AsyncGenerator[bytes, None] | None = None


class HangUpError(Exception):
    """Raised by a handler or its chunks: close the connection without another byte."""


Handler = Callable[[Request], Awaitable[Reply]]


class HttpServer:
    """Serves one handler; ``start`` and ``stop`` may be called once each."""

    def __init__(self, handler: Handler, *, host: str, port: int) -> None:
        self._handler, self._host, self._asked_port = handler, host, port
        self.loop = asyncio.new_event_loop()
        self.connections: set[Connection] = set()
        self.port = 0
        self._ready = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="simcluster-http", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._ready.wait(START_SECONDS)
        if self._error is not None:
            self._thread.join()
            raise self._error

    def stop(self) -> None:
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
        elif not self.loop.is_closed():
            self.loop.close()

    def _run(self) -> None:
        try:
            server = self.loop.run_until_complete(
                self.loop.create_server(lambda: Connection(self, self._handler), self._host, self._asked_port)
            )
        except OSError as exc:
            self._error = exc
        else:
            self.port = server.sockets[0].getsockname()[1]
            self.loop.call_soon(self._ready.set)
            self.loop.run_forever()
            self.loop.run_until_complete(self._close(server))
        self.loop.close()
        self._ready.set()

    async def _close(self, server: asyncio.Server) -> None:
        """Stop listening, then close the server: one closed at once leaves what it has just accepted open."""
        for sock in server.sockets:
            self.loop.remove_reader(sock.fileno())
        for _ in range(_LAST_TURNS):
            tasks = [connection.abort() for connection in list(self.connections)]
            await asyncio.gather(*[task for task in tasks if task], return_exceptions=True)
            await asyncio.sleep(0)
        server.close()
        await self.loop.shutdown_asyncgens()


class Connection(asyncio.Protocol):
    """One client: requests are answered in order, one at a time."""

    def __init__(self, server: HttpServer, handler: Handler) -> None:
        self._server, self._handler = server, handler
        self._parser = httptools.HttpRequestParser(self)
        self._request = Request()
        self._body = bytearray()
        self._waiting: deque[tuple[Request, bool]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  (TCP gives no other)
        self._transport = transport
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        if self._task:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._transport.close()

    def abort(self) -> asyncio.Task[None] | None:
        """Drop the connection now; return the task that has to end."""
        self._transport.abort()
        if self._task:
            self._task.cancel()
        return self._task

    def on_message_begin(self) -> None:
        self._request, self._body = Request(), bytearray()

    def on_url(self, url: bytes) -> None:
        self._request.target += url.decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._request.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self._request.headers.get("expect", "").lower() == "100-continue":
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        request = self._request
        request.method = self._parser.get_method().decode()
        path, _, query = request.target.partition("?")
        request.path, request.query = unquote(path), dict(parse_qsl(query, keep_blank_values=True))
        request.body = bytes(self._body)
        self._waiting.append((request, self._parser.should_keep_alive()))
        if self._task is None or self._task.done():
            self._task = self._server.loop.create_task(self._serve())

    async def _serve(self) -> None:
        with contextlib.suppress(HangUpError, ConnectionError):
            while self._waiting:
                request, keep_alive = self._waiting.popleft()
                await self._answer(await self._handler(request), keep_alive=keep_alive)
                if not keep_alive:
                    break
            else:
                return
        self._transport.close()

    async def _answer(self, reply: Reply, *, keep_alive: bool) -> None:
        lines = [
            f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}",
            f"Content-Type: {reply.content_type}",
        ]
        lines += [f"{name}: {value}" for name, value in reply.headers]
        if not keep_alive:
            lines.append("Connection: close")
        if reply.chunks is None:
            lines.append(f"Content-Length: {len(reply.body)}")
            self._transport.write(_head(lines) + reply.body)
        else:
            self._transport.write(_head([*lines, "Transfer-Encoding: chunked"]))
            await self._send_chunks(reply.chunks)
        await self._writable.wait()

    async def _send_chunks(self, chunks: AsyncGenerator[bytes, None]) -> None:
        async with contextlib.aclosing(chunks):
            async for chunk in chunks:
                if chunk:
                    self._transport.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                await self._writable.wait()
        self._transport.write(b"0\r\n\r\n")


def _head(lines: list[str]) -> bytes:
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
