"""The scheduling queue: ready pods by priority, pods that back off, pods that wait for a change (K1.4-15)."""

import heapq
import itertools
import time
from dataclasses import dataclass

from simcluster.objects import Json

INITIAL_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 1.0, 10.0
UNSCHEDULABLE_SECONDS = 300.0


@dataclass(slots=True)
class Waiting:
    """A pod that waits: how often it was tried, and until when it backs off (monotonic)."""

    key: str
    uid: str
    priority: int
    attempts: int = 0
    until: float = 0.0


class PodQueue:
    """Used by one thread. A pod is known from ``add`` to ``drop``; ``pop`` takes it out of its line."""

    def __init__(self) -> None:
        self._known: dict[str, Waiting] = {}
        self._ready: list[tuple[int, int, str]] = []
        self._backing_off: list[tuple[float, int, str]] = []
        self._parked: dict[str, float] = {}
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, pod: Json) -> None:
        meta = pod["metadata"]
        if meta["uid"] not in self._known:
            key, priority = f"{meta['namespace']}/{meta['name']}", int(pod["spec"].get("priority") or 0)
            self._known[meta["uid"]] = Waiting(key, meta["uid"], priority)
            self._make_ready(meta["uid"])

    def drop(self, uid: str) -> None:
        """Forget a pod that is bound, finished or gone."""
        self._known.pop(uid, None)
        self._parked.pop(uid, None)

    def pop(self) -> Waiting | None:
        """Return the next pod to try; None when none is ready."""
        self._wake_backing_off()
        while self._ready:
            waiting = self._known.get(heapq.heappop(self._ready)[2])
            if waiting:
                waiting.attempts += 1
                return waiting
        return None

    def back_off(self, uid: str) -> None:
        """Try again after 1 s, doubling up to 10 s."""
        waiting = self._known.get(uid)
        if waiting:
            self._set_until(waiting)
            heapq.heappush(self._backing_off, (waiting.until, next(self._numbers), uid))

    def park(self, uid: str) -> None:
        """Wait for a change in the cluster, at most five minutes."""
        waiting = self._known.get(uid)
        if waiting:
            self._set_until(waiting)
            self._parked[uid] = time.monotonic() + UNSCHEDULABLE_SECONDS

    def cluster_changed(self) -> None:
        """Let every parked pod try again, not before its back-off has passed."""
        for uid in list(self._parked):
            self._unpark(uid)

    def next_seconds(self) -> float | None:
        """Return the seconds until a pod becomes ready by time alone, None for never."""
        moments = [self._backing_off[0][0]] if self._backing_off else []
        moments += [min(self._parked.values())] if self._parked else []
        return max(min(moments) - time.monotonic(), 0.0) if moments else None

    def _wake_backing_off(self) -> None:
        now = time.monotonic()
        for uid in [uid for uid, until in self._parked.items() if until <= now]:
            self._unpark(uid)
        while self._backing_off and self._backing_off[0][0] <= now:
            self._make_ready(heapq.heappop(self._backing_off)[2])

    def _unpark(self, uid: str) -> None:
        del self._parked[uid]
        waiting = self._known.get(uid)
        if waiting:
            heapq.heappush(self._backing_off, (waiting.until, next(self._numbers), uid))

    def _make_ready(self, uid: str) -> None:
        waiting = self._known.get(uid)
        if waiting:
            heapq.heappush(self._ready, (-waiting.priority, next(self._numbers), uid))

    def _set_until(self, waiting: Waiting) -> None:
        seconds = min(INITIAL_BACKOFF_SECONDS * 2 ** (waiting.attempts - 1), MAX_BACKOFF_SECONDS)
        waiting.until = time.monotonic() + seconds
