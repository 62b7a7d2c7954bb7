"""A keep-alive HTTP client that costs next to nothing, so that its own time does not blur the product's."""

import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


class Client:
    """One connection, one request at a time."""

    def __init__(self, port: int, *, timeout_seconds: float = 120.0) -> None:
        self._port = port
        self._socket = socket.create_connection(("127.0.0.1", port), timeout_seconds)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._held = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def get(self, path: str) -> Answer:
        return self._call(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())

    def post(self, path: str, body: bytes) -> Answer:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return self._call(head.encode() + body)

    def _call(self, request: bytes) -> Answer:
        self._socket.sendall(request)
        head = self._until(b"\r\n\r\n")
        status, lines = int(head.split(b" ", 2)[1]), head.lower().split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), None)
        return Answer(status, self._chunks() if length is None else self._exactly(length))

    def _chunks(self) -> bytes:
        found = []
        while size := int(self._until(b"\r\n"), 16):
            found.append(self._exactly(size + 2)[:-2])
        self._until(b"\r\n")
        return b"".join(found)

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._held:
            self._held += self._receive()
        head, _, self._held = self._held.partition(mark)
        return head

    def _exactly(self, length: int) -> bytes:
        parts, size = [self._held], len(self._held)
        while size < length:
            parts.append(self._receive())
            size += len(parts[-1])
        whole = b"".join(parts)
        self._held = whole[length:]
        return whole[:length]

    def _receive(self) -> bytes:
        data = self._socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the product closed the connection")
        return data
