"""The one connection a reflector has open at a time: opened and read by its thread, ended by any other."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from scheduler_app.kube.client import JSON, KubeClient, Stream
from scheduler_app.kube.errors import ConnectionBrokenError, DecodeError

LINE_LIMIT = 16 * 1024 * 1024  # far beyond what etcd keeps; whatever grows past it is no event


class Feed:
    """``contact`` is called for every sign of life."""

    def __init__(self, client: KubeClient, path: str, *, contact: Callable[[], None]) -> None:
        self._client = client
        self._path = path
        self._contact = contact
        self._lock = threading.Lock()
        self._open: Stream | None = None
        self._ended = False

    def pieces(self, query: Mapping[str, str], *, read_seconds: float, accept: str = "") -> Iterator[bytes]:
        """Yield the body of a GET as it arrives. The request is made when the first piece is asked for.

        Raises:
            ApiError: the subclass tells why.
        """
        with self._client.stream(
            self._path, query=query, read_seconds=read_seconds, accept=accept or JSON
        ) as stream:
            self._keep(stream)
            self._contact()
            for piece in stream:
                self._contact()
                yield piece

    def interrupt(self) -> None:
        """End the open stream and every later one."""
        with self._lock:
            self._ended = True
            stream = self._open
        if stream is not None:
            stream.interrupt()

    def _keep(self, stream: Stream) -> None:
        with self._lock:
            self._open = stream
            if self._ended:  # asked to end before there was a stream to interrupt (I18)
                raise ConnectionBrokenError("asked to end")


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Split a stream at its newlines, wherever the pieces end; blank lines are skipped (I16).

    Half a line at the end is dropped: its event has not been taken, so the next watch brings it again.

    Raises:
        DecodeError: a line has no end.
    """
    held: list[bytes] = []
    for piece in pieces:
        if b"\n" not in piece:
            held.append(piece)
            if sum(map(len, held)) > LINE_LIMIT:
                raise DecodeError("a line of the watch has no end")
            continue
        *whole, rest = b"".join((*held, piece)).split(b"\n")
        held = [rest]
        yield from (line for line in whole if line.strip())
