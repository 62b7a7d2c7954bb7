"""Standing in line for a node: arrival order, woken by the watch, never longer than patience lasts."""

import threading
from collections.abc import Iterator

import pytest

from scheduler_app.core.types import NodeName
from scheduler_app.engine.turns import NodeTurns, StoppedError
from tests.waiting import wait_until

N1, N2 = NodeName("n1"), NodeName("n2")
LONG = 30.0


class Line:
    """Binders that stand in line and note when their turn came."""

    def __init__(self) -> None:
        self.turns = NodeTurns()
        self.came: list[str] = []
        self.leave: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def join(self, name: str, node: NodeName = N1) -> None:
        """Stand in line; returns once the place is taken."""
        before = self.turns.waiting
        self.leave[name] = threading.Event()
        thread = threading.Thread(target=self._stand, args=(name, node))
        self._threads.append(thread)
        thread.start()
        wait_until(lambda: self.turns.waiting == before + 1)

    def end(self) -> None:
        for event in self.leave.values():
            event.set()
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive()

    def _stand(self, name: str, node: NodeName) -> None:
        with self.turns.queue(node, LONG):
            self.came.append(name)
            self.leave[name].wait(LONG)


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    line.end()


def test_l10_turns_come_in_order_of_arrival(line: Line) -> None:
    for name in "abcd":
        line.join(name)
    for done in range(1, 5):
        wait_until(lambda done=done: len(line.came) == done)  # type: ignore[misc]  # mypy cannot type the default
        line.leave[line.came[-1]].set()
    assert line.came == ["a", "b", "c", "d"]


def test_l10_another_node_has_a_line_of_its_own(line: Line) -> None:
    line.join("a")
    line.join("b", N2)
    wait_until(lambda: sorted(line.came) == ["a", "b"])


def test_lines_that_end_leave_nothing(line: Line) -> None:
    line.join("a")
    line.end()
    assert line.turns.waiting == 0
    assert not line.turns._queues
    assert not line.turns._signals


def test_a_changed_node_wakes_whoever_has_the_turn() -> None:
    turns, woken = NodeTurns(), threading.Event()

    def wait() -> None:
        with turns.queue(N1, LONG) as turn:
            assert turn.wait(poll_seconds=None)
            woken.set()

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: turns.waiting == 1)
    turns.node_changed(N2)
    assert not woken.is_set()

    def change() -> bool:
        turns.node_changed(N1)
        return woken.is_set()

    wait_until(change)
    thread.join(5)


def test_a_change_between_try_and_wait_is_not_lost() -> None:
    turns = NodeTurns()
    with turns.queue(N1, LONG) as turn:
        turns.node_changed(N1)
        assert turn.wait(poll_seconds=None)


def test_without_patience_nobody_waits() -> None:
    turns = NodeTurns()
    with turns.queue(N1, 0.0) as turn:
        assert not turn.wait(poll_seconds=None)


def test_without_patience_the_line_is_not_waited_for_either(line: Line) -> None:
    """``--bind-wait=0`` tries at once, as the reference does."""
    line.join("a")
    with line.turns.queue(N1, 0.0) as turn:
        assert not turn.wait(poll_seconds=None)


def test_patience_ends() -> None:
    turns = NodeTurns()
    with turns.queue(N1, 0.02) as turn:
        assert not turn.wait(poll_seconds=None)


def test_polling_ends_a_wait_without_a_change() -> None:
    """B-6."""
    turns = NodeTurns()
    with turns.queue(N1, LONG) as turn:
        assert turn.wait(poll_seconds=0.001)


def test_stopping_ends_every_wait(line: Line) -> None:
    line.join("a")
    results: list[bool] = []

    def wait() -> None:
        with line.turns.queue(N1, LONG) as turn:
            results.append(turn.wait(poll_seconds=None))

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: line.turns.waiting == 2)
    line.turns.stop()
    thread.join(5)
    assert results == [False]
    with pytest.raises(StoppedError, match="scheduler shutting down while waiting for node lock: why"):
        line.turns.raise_if_stopped(True, "why")
    line.turns.raise_if_stopped(False, "why")
