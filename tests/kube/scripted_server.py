"""An HTTP server that misbehaves as told, over real sockets."""

import json
import socket
import ssl
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from kubernetes.client import ApiClient, Configuration

from scheduler_app.kube.client import KubeClient

Json = dict[str, Any]
HOLD_SECONDS = 10.0


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def is_watch(self) -> bool:
        return self.query.get("watch") == "true"


@dataclass(frozen=True)
class Reply:
    """``pieces`` go out one by one; an Event among them is waited for. ``cut`` ends without an end.

    ``announced`` sends a Content-Length instead of chunks, whatever it is worth.
    """

    status: int = 200
    pieces: Sequence[bytes | threading.Event] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    announced: int | None = None
    content_type: str = "application/json"


class ScriptedServer:
    """``lists`` and ``watches`` are answered in order, or all by ``answer``; ``requests`` is what came.

    When there is no watch left, the next one stays open and silent.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.lists: deque[Reply] = deque()
        self.watches: deque[Reply] = deque()
        self.answer: Callable[[Request], Reply] | None = None
        self.closing = threading.Event()
        self.connections = 0
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": self}))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def speak_tls(self, certificate: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = self.url.replace("http:", "https:")

    def client(self, **options: Any) -> KubeClient:
        return KubeClient(ApiClient(Configuration(host=self.url)), **options)

    def seen(self, *, watch: bool) -> list[Request]:
        return [request for request in list(self.requests) if request.is_watch == watch]

    def reply_to(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.answer is not None:
            return self.answer(request)
        if request.is_watch:
            return self.watches.popleft() if self.watches else silent(self.closing)
        return self.lists.popleft() if self.lists else failing(500, "no list is left")

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def listing(kind: str, *items: Json, version: str = "1", more: str = "") -> Reply:
    meta = {"resourceVersion": version, **({"continue": more} if more else {})}
    return answering({"kind": f"{kind}List", "metadata": meta, "items": list(items)})


def answering(body: object, *, status: int = 200) -> Reply:
    raw = json.dumps(body).encode()
    return Reply(status, [raw], announced=len(raw))


def failing(
    status: int, message: str, *, reason: str = "", headers: Mapping[str, str] | None = None
) -> Reply:
    body = {"kind": "Status", "status": "Failure", "code": status, "reason": reason, "message": message}
    raw = json.dumps(body).encode()
    return Reply(status, [raw], headers or {}, announced=len(raw))


def watching(*lines: bytes | threading.Event, cut: bool = False) -> Reply:
    return Reply(pieces=lines, cut=cut)


def silent(until: threading.Event) -> Reply:
    return Reply(pieces=[until])


def event(type: str, item: Json) -> bytes:
    return json.dumps({"type": type, "object": item}).encode() + b"\n"


def bookmark(version: str) -> bytes:
    return event("BOOKMARK", {"metadata": {"resourceVersion": version}})


def error_event(code: int, message: str = "no", *, reason: str = "") -> bytes:
    status = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return event("ERROR", status)


def node(name: str, *, version: str = "1", uid: str = "", **annotations: str) -> Json:
    meta = {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": version, "annotations": annotations}
    return {"metadata": meta}


def unused_url() -> str:
    """Return a URL at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what is wrong with a test; clients that hang up are the point of many."""
        if not isinstance(sys.exc_info()[1], ConnectionError | ssl.SSLError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    script: ScriptedServer

    def setup(self) -> None:
        super().setup()
        self.script.connections += 1

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = dict(parse_qsl(target.query))
        request = Request(self.command, target.path, query, dict(self.headers), body)
        try:
            self._send(self.script.reply_to(request))
        except OSError:  # the client hung up, which is often the point of the test
            self.close_connection = True

    do_POST = do_PATCH = do_GET  # noqa: N815  (the base class looks the names up)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.announced is not None:
            self.send_header("Content-Length", str(reply.announced))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in reply.pieces:
            self._send_piece(piece, is_chunk=reply.announced is None)
        self._finish(reply)

    def _send_piece(self, piece: bytes | threading.Event, *, is_chunk: bool) -> None:
        if isinstance(piece, threading.Event):
            self.wfile.flush()
            piece.wait(HOLD_SECONDS)
            return
        self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunk else piece)
        self.wfile.flush()

    def _finish(self, reply: Reply) -> None:
        if reply.cut:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif reply.announced is None:
            self.wfile.write(b"0\r\n\r\n")
