"""A token bucket for writes that nobody waits for (``--kube-qps``, ``--kube-burst``)."""

import threading
import time
from collections.abc import Callable

DEFAULT_QPS = 5.0
DEFAULT_BURST = 10


class Throttle:
    """``qps`` tokens a second, at most ``burst`` at once; 0 is the default, a negative rate no limit."""

    def __init__(
        self,
        *,
        qps: float = DEFAULT_QPS,
        burst: int = DEFAULT_BURST,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._rate = qps or DEFAULT_QPS
        self._burst = float(max(burst or DEFAULT_BURST, 1))
        self._clock = clock
        self._closed = threading.Event()
        self._wait = wait or self._closed.wait
        self._lock = threading.Lock()
        self._tokens = self._burst
        self._filled_at = clock()

    def take(self) -> None:
        """Wait for a token. Waiting threads are served in the order in which they came."""
        delay = self._reserve()
        if delay > 0 and not self._closed.is_set():
            self._wait(delay)

    def close(self) -> None:
        """End every wait: the process stops and what is left to write goes out at once."""
        self._closed.set()

    def _reserve(self) -> float:
        """Take a token, on credit if need be, and return the seconds until it is really there."""
        if self._rate < 0:
            return 0.0
        with self._lock:
            now = self._clock()
            self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate)
            self._filled_at = now
            self._tokens -= 1
            return max(0.0, -self._tokens / self._rate)
