"""F-35: nobody waits for an Event."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from scheduler_app.core.types import NodeName
from scheduler_app.events import EventCounts, EventThread
from scheduler_app.kube.throttle import Throttle
from tests.factories import make_pod
from tests.kube.scripted_server import ScriptedServer, answering, failing
from tests.kube.tiny_api import Fault, TinyApi
from tests.waiting import wait_until


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as scripted:
        yield scripted


@pytest.fixture
def api(server: ScriptedServer) -> TinyApi:
    server.answer = api = TinyApi()
    return api


@contextmanager
def running(events: EventThread) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=events.run, args=(stop,), name="events-under-test")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        events.interrupt()
        thread.join(5)
    assert not thread.is_alive()


def tell(events: EventThread, message: str = "m", *, pod: str = "p") -> None:
    events.pod_event(make_pod(name=pod), type="Normal", reason="BindingSucceed", message=message)


def test_events_of_pods_and_nodes_are_written_in_order(server: ScriptedServer, api: TinyApi) -> None:
    events = EventThread(server.client(), source="hami-scheduler")
    tell(events)
    events.node_event(NodeName("n1"), type="Warning", reason="NodeLockMalformed", message="x")
    with running(events):
        wait_until(lambda: len(api.writes) == 2)
    involved = [body["involvedObject"] for body in api.bodies()]
    assert [(about["kind"], about["name"], about["uid"]) for about in involved] == [
        ("Pod", "p", "uid-p"),
        ("Node", "n1", "n1"),
    ]


def test_a_full_queue_drops_and_counts(server: ScriptedServer) -> None:
    """Handing in never blocks, however slow the API server is."""
    events = EventThread(server.client(), source="s", capacity=3)
    for number in range(5):
        tell(events, f"m{number}")
    assert events.counts == EventCounts(dropped=2)


def test_what_is_queued_when_the_process_ends_is_still_written(server: ScriptedServer, api: TinyApi) -> None:
    events = EventThread(server.client(), source="s")
    for number in range(5):
        tell(events, pod=f"p{number}")
    stop = threading.Event()
    stop.set()
    events.run(stop)
    assert len(api.writes) == 5
    assert events.counts == EventCounts(written=5)


def test_a_server_in_trouble_is_asked_again(server: ScriptedServer, api: TinyApi) -> None:
    pauses: list[float] = []
    api.faults.append(Fault("POST", "/events", status=503, times=2))
    events = EventThread(server.client(), source="s", pause=lambda stop, seconds: pauses.append(seconds))
    with running(events):
        tell(events)
        wait_until(lambda: events.counts.written == 1)
    assert pauses == [1.0, 2.0]


def test_retry_after_is_a_minimum(server: ScriptedServer) -> None:
    pauses: list[float] = []
    replies = [failing(429, "slow down", headers={"Retry-After": "9"}), answering({})]
    server.answer = lambda request: replies.pop(0)
    events = EventThread(server.client(), source="s", pause=lambda stop, seconds: pauses.append(seconds))
    with running(events):
        tell(events)
        wait_until(lambda: events.counts.written == 1)
    assert pauses == [9.0]


@pytest.mark.parametrize(("status", "tries"), [(403, 1), (500, 4)])
def test_a_refused_event_is_logged_and_the_next_one_written(
    server: ScriptedServer, api: TinyApi, caplog: pytest.LogCaptureFixture, status: int, tries: int
) -> None:
    api.faults.append(Fault("POST", "/events", status=status, contains='"p1"'))
    events = EventThread(server.client(), source="s", pause=lambda stop, seconds: None)
    with running(events):
        tell(events, pod="p1")
        tell(events, pod="p2")
        wait_until(lambda: events.counts == EventCounts(written=1, failed=1))
    assert len(api.writes) == tries + 1
    assert "event not written reason=BindingSucceed object=default/p1" in caplog.text


def test_a_flood_on_one_pod_is_cut(server: ScriptedServer, api: TinyApi) -> None:
    events = EventThread(server.client(), source="s")
    for _ in range(30):
        tell(events)
    with running(events):
        wait_until(lambda: events.counts == EventCounts(written=25, cut=5))


def test_the_throttle_holds_writes_back_until_the_process_ends(server: ScriptedServer, api: TinyApi) -> None:
    """``--kube-qps``; ending does not wait for tokens."""
    events = EventThread(server.client(), source="s", throttle=Throttle(qps=0.001, burst=1))
    with running(events):
        for number in range(3):
            tell(events, pod=f"p{number}")
        wait_until(lambda: events.counts.written == 1)
    assert len(api.writes) == 3


def test_an_idle_thread_ends_at_once(server: ScriptedServer, api: TinyApi) -> None:
    with running(EventThread(server.client(), source="s")):
        pass
