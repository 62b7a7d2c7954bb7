import threading

from scheduler_app.kube.throttle import Throttle


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def test_a_burst_is_free_then_tokens_come_at_the_rate() -> None:
    """CFG-1: --kube-qps, --kube-burst."""
    clock = Clock()
    throttle = Throttle(qps=5, burst=3, clock=lambda: clock.now, wait=clock.wait)
    for _ in range(5):
        throttle.take()
    assert clock.waits == [0.2, 0.2]


def test_quiet_time_fills_the_bucket_and_no_more() -> None:
    clock = Clock()
    throttle = Throttle(qps=5, burst=3, clock=lambda: clock.now, wait=clock.wait)
    clock.now += 1000
    for _ in range(4):
        throttle.take()
    assert len(clock.waits) == 1


def test_zero_stands_for_the_defaults() -> None:
    clock = Clock()
    throttle = Throttle(qps=0, burst=0, clock=lambda: clock.now, wait=clock.wait)
    for _ in range(11):
        throttle.take()
    assert clock.waits == [0.2]


def test_a_negative_rate_is_no_limit() -> None:
    clock = Clock()
    throttle = Throttle(qps=-1, burst=1, clock=lambda: clock.now, wait=clock.wait)
    for _ in range(100):
        throttle.take()
    assert clock.waits == []


def test_closing_ends_a_wait() -> None:
    throttle = Throttle(qps=0.001, burst=1)
    throttle.take()
    waiter = threading.Thread(target=throttle.take)
    waiter.start()
    throttle.close()
    waiter.join(5)
    assert not waiter.is_alive()
