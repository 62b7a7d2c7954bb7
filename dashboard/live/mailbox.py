"""What waits for one browser: at most one frame a topic, however slow it reads (console.md 7.6).

A browser that keeps up gets the bytes that all others get. For one that does not, changes of a topic are
merged into a set of keys, bounded by the number of things, and become one frame when it is ready to take it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dashboard.live import frames
from dashboard.live.frames import Key

BEHIND_SECONDS = 30.0
KEPT_CONTROLS = 100
RESYNC_WITHIN_MS = 2000

Build = Callable[[str, int, Iterable[Key]], bytes]
"""Makes the frame of a topic from the mirror: topic, base, keys."""


@dataclass(slots=True)
class _Slot:
    base: int
    keys: set[Key]
    since: float
    frame: bytes | None


class Mailbox:
    """One browser's.

    ``build`` and ``size_of`` read the mirror; ``size_of`` is how many keys a topic can have.
    """

    def __init__(self, *, build: Build, size_of: Callable[[str], int], clock: Callable[[], float]) -> None:
        self.topics: set[str] = set()
        self.is_paused = False
        self._build = build
        self._size_of = size_of
        self._clock = clock
        self._controls: deque[bytes] = deque()
        self._slots: dict[str, _Slot] = {}
        self._full = asyncio.Event()

    def control(self, frame: bytes) -> None:
        """Queue a frame that must not be merged. Too many of them void what waits: fetch the list anew."""
        if len(self._controls) >= KEPT_CONTROLS:
            self._controls.clear()
            self._controls.append(frames.resync("fleet", within_ms=RESYNC_WITHIN_MS))
        self._controls.append(frame)
        self._full.set()

    def put(self, topic: str, *, base: int, keys: Iterable[Key], frame: bytes | None = None) -> None:
        """Add a change. Without ``frame`` it is made from the mirror when it is taken."""
        slot = self._slots.get(topic)
        if slot is None:
            self._slots[topic] = _Slot(base, set(keys), self._clock(), frame)
        else:
            slot.keys.update(keys)
            slot.frame = None
        self._full.set()

    def wants_bytes(self, topic: str) -> bool:
        """Say whether a shared frame would be of use: nothing of this topic waits."""
        return topic not in self._slots

    def void(self) -> None:
        """Drop what waits: a new epoch made it meaningless."""
        self._slots.clear()

    def forget(self, topic: str) -> None:
        self.topics.discard(topic)
        self._slots.pop(topic, None)

    def pause(self, paused: bool) -> None:
        self.is_paused = paused
        self._full.set()

    @property
    def waiting(self) -> int:
        """How many frames and changes have not been taken."""
        return len(self._controls) + sum(len(slot.keys) for slot in self._slots.values())

    async def get(self) -> bytes:
        """Wait for the next frame. Node lists and heartbeats go first; a paused browser gets only those."""
        while True:
            if self._controls:
                return self._controls.popleft()
            if self._slots and not self.is_paused:
                topic = next(iter(self._slots))
                return self._take(topic, self._slots.pop(topic))
            self._full.clear()
            await self._full.wait()

    def _take(self, topic: str, slot: _Slot) -> bytes:
        if slot.frame is not None:
            return slot.frame
        is_late = self._clock() - slot.since > BEHIND_SECONDS
        size = self._size_of(topic)
        if is_late or (size > KEPT_CONTROLS and len(slot.keys) * 2 > size):
            return frames.resync(topic, within_ms=RESYNC_WITHIN_MS)
        return self._build(topic, slot.base, slot.keys)
