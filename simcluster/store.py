"""Objects in memory: one version counter, a ring of recent changes for each resource, subscribers.

Stored objects are never changed in place. Who writes gets a copy and hands in the whole new object, so
readers, watches and the ring share one object and its JSON text is made once.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from simcluster import errors
from simcluster.objects import Json, copy, key_of

HISTORY = 4096  # changes kept for each resource; a watch that starts further back is told 410

Change = Callable[[Json | None], Json | None]


class Record:
    """One version of one object, and its JSON text, made when first asked for."""

    __slots__ = ("_item", "body", "version")

    def __init__(self, body: Json, version: int) -> None:
        self.body, self.version = body, version
        self._item: bytes | None = None

    @property
    def item(self) -> bytes:
        """The text as an item of a list: without kind and apiVersion, which the list says once (K4.5-9)."""
        if self._item is None:
            rest = {name: value for name, value in self.body.items() if name not in {"kind", "apiVersion"}}
            self._item = orjson.dumps(rest)
        return self._item

    @property
    def raw(self) -> bytes:
        """The text of the whole object."""
        head = b'{"kind":"%b","apiVersion":"%b",'
        return head % (self.body["kind"].encode(), self.body["apiVersion"].encode()) + self.item[1:]


@dataclass(frozen=True, slots=True)
class Entry:
    """A change: ``new`` is None after a deletion, ``final`` then holds the last state at the new version."""

    version: int
    old: Record | None
    new: Record | None
    final: Record

    @property
    def kind(self) -> str:
        if self.new is None:
            return "DELETED"
        return "MODIFIED" if self.old else "ADDED"


class Subscription:
    """What one watcher has not read yet; ``notify`` is called for each change and must return at once."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self.pending: deque[Entry] = deque()
        self.notify = notify


class Store:
    """All objects; every public method takes the one lock, and does memory work only under it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._version = 1
        self._records: dict[str, dict[str, Record]] = {}
        self._history: dict[str, deque[Entry]] = {}
        self._floor: dict[str, int] = {}
        self._subscriptions: dict[str, list[Subscription]] = {}

    @property
    def version(self) -> int:
        with self._lock:  # a version is out only when its change has reached every subscription
            return self._version

    def get(self, resource: str, key: str) -> Record | None:
        with self._lock:
            return self._records.get(resource, {}).get(key)

    def all(self, resource: str) -> tuple[list[Record], int]:
        """Return all records in the order of their keys, and the version at which that is the picture."""
        with self._lock:
            records = self._records.get(resource, {})
            return [records[key] for key in sorted(records)], self._version

    def count(self, resource: str) -> int:
        with self._lock:
            return len(self._records.get(resource, {}))

    def change(self, resource: str, key: str, change: Change) -> Json:
        """Give the current body (a copy, or None) to change and store what it returns; None deletes.

        What comes back is the stored body: nobody may write to it. An unchanged body is not stored again.
        """
        with self._lock:
            old = self._records.get(resource, {}).get(key)
            body = change(copy(old.body) if old else None)
            if old and body == old.body:
                return old.body
            if old is None and body is None:
                raise errors.not_found(resource, key)
            return self._put(resource, key, old, body)

    def subscribe(self, resource: str, subscription: Subscription, since: int | None = None) -> list[Record]:
        """Start to deliver; return the present records, or with since queue what came after that version.

        StatusError 410 when the ring no longer reaches back to since.
        """
        with self._lock:
            history = self._history.get(resource, deque())
            if since is not None:
                floor = self._floor.get(resource, 0)
                if since < floor:
                    raise errors.expired(f"too old resource version: {since} ({floor})")
                subscription.pending.extend(entry for entry in history if entry.version > since)
            self._subscriptions.setdefault(resource, []).append(subscription)
            return [] if since is not None else self.all(resource)[0]

    def unsubscribe(self, resource: str, subscription: Subscription) -> None:
        with self._lock:
            found = self._subscriptions.get(resource, [])
            if subscription in found:
                found.remove(subscription)

    def forget_history(self) -> None:
        """Compact: every version handed out so far becomes too old for a watch or a continued list."""
        with self._lock:
            self._version += 1
            for resource in self._records:
                self._floor[resource] = self._version
                self._history.get(resource, deque()).clear()

    def _put(self, resource: str, key: str, old: Record | None, body: Json | None) -> Json:
        self._version += 1
        final = body if body is not None else copy(old.body) if old else {}
        final["metadata"]["resourceVersion"] = str(self._version)
        record = Record(final, self._version)
        records = self._records.setdefault(resource, {})
        if body is None:
            del records[key]
        else:
            records[key_of(body)] = record
        self._tell(resource, Entry(self._version, old, None if body is None else record, record))
        return final

    def _tell(self, resource: str, entry: Entry) -> None:
        history = self._history.setdefault(resource, deque())
        history.append(entry)
        if len(history) > HISTORY:
            self._floor[resource] = history.popleft().version
        for subscription in self._subscriptions.get(resource, ()):
            subscription.pending.append(entry)
            subscription.notify()
