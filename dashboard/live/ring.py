"""The last ticks, so that a browser that was away for a moment gets what it missed instead of everything."""

from collections import deque
from collections.abc import Mapping, Set
from dataclasses import dataclass

from dashboard.live.frames import Key

KEPT_TICKS = 300


@dataclass(frozen=True, slots=True)
class _Tick:
    base: int
    revision: int
    keys: Mapping[str, Set[Key]]


class Ring:
    def __init__(self) -> None:
        self._ticks: deque[_Tick] = deque(maxlen=KEPT_TICKS)

    def clear(self) -> None:
        self._ticks.clear()

    def add(self, *, base: int, revision: int, keys: Mapping[str, Set[Key]]) -> None:
        self._ticks.append(_Tick(base, revision, keys))

    def missed(self, topic: str, revision: int) -> set[Key] | None:
        """Return what changed in the topic after ``revision``; None when that is too long ago to know."""
        later = [tick for tick in self._ticks if tick.revision > revision]
        if later and later[0].base > revision:
            return None
        return {key for tick in later for key in tick.keys.get(topic, ())}

    def reaches(self, revision: int, *, current: int) -> bool:
        """Say whether ``revision`` is now, or not older than the oldest tick."""
        return revision >= current or (bool(self._ticks) and self._ticks[0].base <= revision)
