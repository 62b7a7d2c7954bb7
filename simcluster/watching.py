"""One watch: from a version on, every change of a resource that passes its selectors, as lines of JSON."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

import orjson

from simcluster import errors
from simcluster.resources import Resource
from simcluster.selectors import Predicate
from simcluster.store import Entry, Record, Store, Subscription

INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


@dataclass(frozen=True, slots=True)
class WatchQuery:
    """What a client watches. ``since`` None: present objects first; render makes the text of one object."""

    resource: Resource
    predicate: Predicate
    since: int | None
    timeout_seconds: float
    render: Callable[[Record], bytes]
    bookmarks: bool = False
    announce_initial: bool = False


class Watch:
    """Yields chunks of lines until the timeout, an error, or ``end``; it is in register until then."""

    def __init__(
        self, store: Store, query: WatchQuery, *, bookmark_seconds: float, register: "set[Watch]"
    ) -> None:
        self._store, self._query, self._bookmark_seconds = store, query, bookmark_seconds
        self._register = register
        register.add(self)
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._woken = False
        self._ended: Exception | None = None
        self._bookmark_asked = False
        self._subscription = Subscription(self._wake)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        storage = self._query.resource.stored_as
        try:
            version = self._store.version
            records = self._store.subscribe(storage, self._subscription, self._query.since)
            yield self._initial(records, version) + self._drain()
            async for chunk in self._follow():
                yield chunk
        except errors.StatusError as exc:
            yield b'{"type":"ERROR","object":%b}\n' % orjson.dumps(exc.body())
        finally:
            self._store.unsubscribe(storage, self._subscription)
            self._register.discard(self)

    def end(self, reason: Exception) -> None:
        """End with reason: a StatusError is sent as ERROR event, HangUpError breaks the connection off."""
        self._ended = reason
        self._wake()

    def bookmark_soon(self) -> None:
        """Send a bookmark now, whatever the interval."""
        self._bookmark_asked = True
        self._wake()

    async def _follow(self) -> AsyncGenerator[bytes, None]:
        start = time.monotonic()
        deadline = start + self._query.timeout_seconds
        bookmark_at = start + self._bookmark_seconds
        while (now := time.monotonic()) < deadline:
            if now >= bookmark_at or self._bookmark_asked:
                self._bookmark_asked, bookmark_at = False, now + self._bookmark_seconds
                yield self._drain_to_bookmark()
            await self._wait(min(deadline, bookmark_at) - time.monotonic())
            self._woken = False
            self._changed.clear()
            if self._ended:
                raise self._ended
            yield self._drain()
        yield self._drain_to_bookmark()

    async def _wait(self, seconds: float) -> None:
        timer = self._loop.call_later(max(seconds, 0.0), self._changed.set)
        try:
            await self._changed.wait()
        finally:
            timer.cancel()

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._changed.set)

    def _initial(self, records: list[Record], version: int) -> bytes:
        matching = [record for record in records if self._query.predicate(record.body)]
        lines = b"".join(self._line(b"ADDED", record) for record in matching)
        return lines + (self._bookmark(version, INITIAL_EVENTS_END) if self._query.announce_initial else b"")

    def _drain(self) -> bytes:
        lines, pending = [], self._subscription.pending
        while pending:
            lines.append(self._event(pending.popleft()))
        return b"".join(lines)

    def _event(self, entry: Entry) -> bytes:
        """An object that starts to match is ADDED, one that stops DELETED with its old content (K3.2-2)."""
        before = entry.old is not None and self._query.predicate(entry.old.body)
        after = entry.new is not None and self._query.predicate(entry.new.body)
        if after:
            return self._line(b"MODIFIED" if before else b"ADDED", entry.final)
        if not before or entry.old is None:
            return b""
        return self._line(b"DELETED", _at_version(entry.old, entry.version))

    def _line(self, kind: bytes, record: Record) -> bytes:
        return b'{"type":"%b","object":%b}\n' % (kind, self._query.render(record))

    def _drain_to_bookmark(self) -> bytes:
        """Drain, then say up to where (K3.1-2); the version is read first, so that nothing is skipped."""
        version = self._store.version
        return self._drain() + (self._bookmark(version, {}) if self._query.bookmarks else b"")

    def _bookmark(self, version: int, annotations: dict[str, str]) -> bytes:
        resource = self._query.resource
        meta: dict[str, object] = {"resourceVersion": str(version), "creationTimestamp": None}
        if annotations:
            meta["annotations"] = annotations
        body = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta}
        return b'{"type":"BOOKMARK","object":%b}\n' % orjson.dumps(body)


def _at_version(record: Record, version: int) -> Record:
    meta = record.body["metadata"] | {"resourceVersion": str(version)}
    return Record(record.body | {"metadata": meta}, version)
