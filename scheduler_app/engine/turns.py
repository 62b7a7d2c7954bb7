"""Turns on a node: binds that find the lock held wait in order of arrival, woken by the watch.

Repeats of one pod's bind take turns in the same way, in a line of the pod's own (``binding.Binder``). A
waiting bind blocks its own request thread and nothing else: ``/filter`` has threads of its own.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import NodeName


class StoppedError(HamiError):
    """The process ends while a bind waits."""


class NodeTurns:
    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._changed = threading.Condition()
        self._queues: dict[str, deque[Turn]] = {}
        self._signals: dict[str, int] = {}
        self._stopped = False
        self._monotonic = monotonic

    @property
    def waiting(self) -> int:
        """How many binds stand in line on all nodes, the ones whose turn it is included."""
        with self._changed:
            return sum(len(queue) for queue in self._queues.values())

    @property
    def waiting_behind(self) -> int:
        """How many stand in line behind somebody else."""
        with self._changed:
            return sum(len(queue) - 1 for queue in self._queues.values())

    def node_changed(self, name: NodeName) -> None:
        """Wake whoever waits for a node. Called by the nodes' reflector for every event."""
        with self._changed:
            if name in self._queues:
                self._signals[name] = self._signals.get(name, 0) + 1
                self._changed.notify_all()

    def end_others(self, owner: str, *, than: NodeName) -> None:
        """End what an owner waits for in any other line: it has been sent to the node ``than`` since."""
        with self._changed:
            for name, line in self._queues.items():
                for turn in line:
                    if turn.owner == owner and name != than:
                        turn.deadline = float("-inf")
            self._changed.notify_all()

    def stop(self) -> None:
        """End every wait; called once when the process ends."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def raise_if_stopped(self, is_group: bool, contention: str) -> None:
        if self._stopped and is_group:
            raise StoppedError(f"scheduler shutting down while waiting for node lock: {contention}")

    @contextmanager
    def queue(self, name: str, patience_seconds: float, *, owner: str = "") -> Iterator["Turn"]:
        """Stand in line for a node; the body runs when it is our turn, or when patience has run out."""
        turn = Turn(self, name, deadline=self._monotonic() + patience_seconds, owner=owner)
        with self._changed:
            line = self._queues.setdefault(name, deque())
            line.append(turn)
            while line[0] is not turn and self._wait(turn.deadline):
                pass
            turn.seen = self._signals.get(name, 0)  # the body's first try sees all that was told so far
        try:
            yield turn
        finally:
            with self._changed:
                line.remove(turn)
                if not line:
                    self._queues.pop(name, None)
                    self._signals.pop(name, None)
                self._changed.notify_all()

    def _wait(self, deadline: float) -> bool:
        """Wait for any change until ``deadline``; False once it has passed or the process ends."""
        left = deadline - self._monotonic()
        if left <= 0 or self._stopped:
            return False
        self._changed.wait(left)
        return self._monotonic() < deadline


class Turn:
    """One bind's place in line. ``deadline`` is monotonic time."""

    def __init__(self, turns: NodeTurns, name: str, *, deadline: float, owner: str) -> None:
        self._turns = turns
        self._name = name
        self.owner = owner
        self.deadline = deadline
        self.seen = 0

    @property
    def has_come(self) -> bool:
        """Whether nobody stands before us: False where patience ran out first."""
        with self._turns._changed:
            return self._turns._queues[self._name][0] is self

    def wait(self, *, poll_seconds: float | None) -> bool:
        """Wait until the node changed and it is our turn; False when patience has run out.

        ``poll_seconds`` also ends the wait: a pod group's members try again by themselves (B-6).
        """
        turns = self._turns
        with turns._changed:
            until = turns._monotonic() + (poll_seconds if poll_seconds is not None else float("inf"))
            while turns._queues[self._name][0] is not self or self.seen == turns._signals.get(self._name, 0):
                if poll_seconds is not None and turns._monotonic() >= until:
                    break
                if not turns._wait(min(self.deadline, until)) and turns._monotonic() >= self.deadline:
                    return False
                if turns._stopped:
                    return False
            self.seen = turns._signals.get(self._name, 0)
            return turns._monotonic() < self.deadline
