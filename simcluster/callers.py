"""HTTP POST to the product over kept connections; a call in flight can be interrupted from another thread."""

import contextlib
import http.client
import socket
import ssl
import threading
from dataclasses import dataclass
from urllib.parse import urlsplit

_KNOCK_SECONDS = 0.5
_IDLE = 2  # connections kept for each host, as Go's transport does (K1.5-1)


class CallError(Exception):
    """The call did not come to an answer: refused, timed out, broken off."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; content_type without its parameters."""

    status: int
    body: bytes
    content_type: str


class Caller:
    """A pool of connections, safe for many threads; ``close`` ends waiting calls with CallError."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[tuple[str, str], list[http.client.HTTPConnection]] = {}
        self._busy: set[http.client.HTTPConnection] = set()
        self._closed = False

    def post(self, url: str, body: bytes, *, timeout_seconds: float) -> Answer:
        """Send JSON; CallError when no whole answer came in time. A POST is never repeated (K1.5-3)."""
        parts = urlsplit(url)
        connection = self._take(parts.scheme, parts.netloc, timeout_seconds)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            self._connect(connection)
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as exc:
            self._drop(connection)
            raise CallError(f'Post "{url}": {str(exc) or type(exc).__name__}') from exc
        self._give_back(parts.scheme, parts.netloc, connection, reusable=not response.will_close)
        kind = (response.getheader("Content-Type") or "").partition(";")[0].strip()
        return Answer(response.status, content, kind)

    def close(self) -> None:
        """Close what is idle and break off what waits."""
        with self._lock:
            self._closed = True
            idle = [connection for found in self._idle.values() for connection in found]
            self._idle.clear()
            sockets = [connection.sock for connection in self._busy]
        for connection in idle:
            connection.close()
        for sock in sockets:
            with contextlib.suppress(OSError, AttributeError):
                sock.shutdown(socket.SHUT_RDWR)

    def _take(self, scheme: str, netloc: str, timeout_seconds: float) -> http.client.HTTPConnection:
        with self._lock:
            if self._closed:
                raise CallError("the cluster is being stopped")
            idle = self._idle.get((scheme, netloc))
            connection = idle.pop() if idle else _connection(scheme, netloc)
            self._busy.add(connection)
        connection.timeout = timeout_seconds
        if connection.sock:
            connection.sock.settimeout(timeout_seconds)
        return connection

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        """Connect where needed; afterwards ``close`` can break the call off, so it must not have run yet."""
        if connection.sock is None:
            connection.connect()
        with self._lock:
            if self._closed:
                raise ConnectionAbortedError("the cluster is being stopped")

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._busy.discard(connection)
        connection.close()

    def _give_back(
        self, scheme: str, netloc: str, connection: http.client.HTTPConnection, *, reusable: bool
    ) -> None:
        with self._lock:
            self._busy.discard(connection)
            idle = self._idle.setdefault((scheme, netloc), [])
            if reusable and not self._closed and len(idle) < _IDLE:
                idle.append(connection)
                return
        connection.close()


def listens(url: str) -> bool:
    """Whether somebody accepts connections at a URL's host and port."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_KNOCK_SECONDS).close()
    except OSError:
        return False
    return True


def _connection(scheme: str, netloc: str) -> http.client.HTTPConnection:
    if scheme != "https":
        return http.client.HTTPConnection(netloc)
    context = ssl.create_default_context()
    context.check_hostname = False  # as kube-scheduler without a CA file (K1.2-5)
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(netloc, context=context)
