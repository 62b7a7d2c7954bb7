"""Which Events become which writes: similar ones combined, repeats counted, floods cut (F-35).

As the standard client recorder does it: ten different messages of one reason on one object within ten minutes
are combined from then on; an object may have 25 events at once and one more every five minutes.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

COMBINED_PREFIX = "(combined from similar events): "
SIMILAR_LIMIT = 10
SIMILAR_SECONDS = 600.0
BURST = 25.0
REFILL_SECONDS = 300.0
REMEMBERED = 4096

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Involved:
    """The object an Event is about."""

    kind: str
    namespace: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something to tell of an object: type is ``Normal`` or ``Warning``."""

    about: Involved
    type: str
    reason: str
    message: str


@dataclass(slots=True)
class Similar:
    """Messages of one reason on one object, as of ``last``."""

    last: float
    messages: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Bucket:
    tokens: float
    filled: float


class Correlator:
    """Not locked: one thread writes Events."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._similar: Recent[tuple[Involved, str, str], Similar] = Recent()
        self._buckets: Recent[Involved, Bucket] = Recent()

    def combined(self, note: Note) -> Note:
        """Return the note under which this one is to be counted: itself, or the combined one of its kind.

        The combined note keeps one text as its key: what it says changes, what it counts does not.
        """
        now = self._clock()
        record = self._similar.get((note.about, note.type, note.reason), lambda: Similar(now))
        if now - record.last > SIMILAR_SECONDS:
            record.messages.clear()
        record.last = now
        record.messages.add(note.message)
        if len(record.messages) < SIMILAR_LIMIT:
            return note
        record.messages.remove(min(record.messages))  # any one goes; this way it is the same every time
        return Note(note.about, note.type, note.reason, COMBINED_PREFIX)

    def allows(self, note: Note) -> bool:
        """Take one of the object's tokens; False when there is none left."""
        now = self._clock()
        bucket = self._buckets.get(note.about, lambda: Bucket(BURST, now))
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.filled) / REFILL_SECONDS)
        bucket.filled = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


K = TypeVar("K")


class Recent(Generic[K, V]):
    """A mapping that forgets what was not used for longest."""

    def __init__(self) -> None:
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        if key not in self._entries:
            self._entries[key] = make()
            if len(self._entries) > REMEMBERED:
                self._entries.popitem(last=False)
        self._entries.move_to_end(key)
        return self._entries[key]
