"""A controller: one thread that sees the changes of some resources in order, and runs timers between them."""

import functools
import heapq
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable

from simcluster.api import Api
from simcluster.errors import StatusError
from simcluster.store import Entry, Subscription

logger = logging.getLogger(__name__)

Action = Callable[[], None]
_SETTLE_SECONDS = 2.0


class Controller:
    """Subclasses name what they watch and say what a change means; all of it runs in the one thread."""

    name = "controller"
    watches: tuple[str, ...] = ()

    def __init__(self, api: Api) -> None:
        self.api = api
        self._inbox: queue.SimpleQueue[Action | None] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, Action]] = []
        self._numbers = itertools.count()
        self._subscriptions: dict[str, Subscription] = {}
        self._thread = threading.Thread(target=self._run, name=f"simcluster-{self.name}", daemon=True)

    def changed(self, resource: str, entry: Entry) -> None:
        """React to a change, or at first to each present object."""

    def began(self) -> None:
        """Run once in the thread, before the first change."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask to end; ``join`` waits for it."""
        self._inbox.put(None)

    def settle(self) -> None:
        """Begin nothing more and wait a moment for what is under way; ``stop`` and ``join`` still follow."""
        self._inbox.put(None)
        if self._thread.is_alive():
            self._thread.join(_SETTLE_SECONDS)

    def join(self) -> None:
        if self._thread.is_alive():
            self._thread.join()

    def soon(self, action: Action) -> None:
        """Run action in the thread; may be called from any."""
        self._inbox.put(action)

    def after(self, seconds: float, action: Action) -> None:
        """Run action later; to be called in the thread itself."""
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._numbers), action))

    def every(self, seconds: float, action: Action) -> None:
        """Run action now and then after each interval."""

        def again() -> None:
            self.after(seconds, again)
            action()

        self.after(0.0, again)

    def _run(self) -> None:
        self._guarded(self.began)
        for resource in self.watches:
            self._subscribe(resource)
        while True:
            try:
                action = self._inbox.get(timeout=self._next_timer())
            except queue.Empty:
                self._run_timers()
                continue
            if action is None:
                break
            self._guarded(action)
            self._run_timers()
        for resource, subscription in self._subscriptions.items():
            self.api.verbs.store.unsubscribe(resource, subscription)

    def _subscribe(self, resource: str) -> None:
        def drain() -> None:
            while subscription.pending:
                self._guarded(functools.partial(self.changed, resource, subscription.pending.popleft()))

        subscription = Subscription(lambda: self._inbox.put(drain))
        self._subscriptions[resource] = subscription
        for record in self.api.verbs.store.subscribe(resource, subscription):
            entry = Entry(record.version, None, record, record)
            self._guarded(functools.partial(self.changed, resource, entry))

    def _next_timer(self) -> float | None:
        return max(self._timers[0][0] - time.monotonic(), 0.0) if self._timers else None

    def _run_timers(self) -> None:
        while self._timers and self._timers[0][0] <= time.monotonic():
            self._guarded(heapq.heappop(self._timers)[2])

    def _guarded(self, action: Action) -> None:
        try:
            action()
        except StatusError as exc:
            logger.debug("refused controller=%s error=%s", self.name, exc)
        except Exception:
            logger.exception("controller failed name=%s", self.name)
