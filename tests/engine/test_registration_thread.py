"""The registration thread: when a pass runs, and what does not end it (R-1, R-19)."""

import threading

import pytest

from scheduler_app.engine.registration import Registration
from tests.waiting import wait_until


class Loop:
    """The registration thread with passes that are counted and can be held up."""

    def __init__(self, *, may_start: bool = True) -> None:
        self.passes = 0
        self.hold = threading.Event()
        self.hold.set()
        self.may_start = may_start
        self.registration = Registration(run_pass=self._pass, may_start=lambda: self.may_start)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.registration.run, args=(self._stop,))

    def __enter__(self) -> "Loop":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self.hold.set()
        self.registration.interrupt()
        self._thread.join(5)
        assert not self._thread.is_alive()

    def _pass(self) -> None:
        self.passes += 1
        self.hold.wait(5)


def test_n11_many_wakes_during_a_pass_are_one_more_pass() -> None:
    """R-1: and no wake ever waits."""
    with Loop() as loop:
        loop.hold.clear()
        loop.registration.wake()
        wait_until(lambda: loop.passes == 1)
        for _ in range(100):
            loop.registration.wake()
        loop.hold.set()
        wait_until(lambda: loop.passes == 2)
    assert loop.passes == 2


def test_q_13_a_wake_before_the_lists_are_complete_is_not_lost() -> None:
    """CFG-9, CFG-10."""
    with Loop(may_start=False) as loop:
        loop.registration.wake()
        loop.may_start = True
        wait_until(lambda: loop.passes == 1)


def test_a_pass_that_fails_does_not_end_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    """R-19: the next pass runs; the error is told."""
    with Loop() as loop:
        run_pass = loop.registration._run_pass

        def fail() -> None:
            loop.registration._run_pass = run_pass
            raise RuntimeError("a bug in a vendor")

        loop.registration._run_pass = fail
        loop.registration.wake()
        wait_until(lambda: "a bug in a vendor" in caplog.text)
        loop.registration.wake()
        wait_until(lambda: loop.passes >= 1)
