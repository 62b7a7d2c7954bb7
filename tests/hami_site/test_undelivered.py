"""K16: a client that closes its connection before the answer is noticed, over a real socket."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import uvicorn
from prometheus_client import REGISTRY

from scheduler_app.core.types import NodeName
from tests.e2e_inprocess.product import free_port
from tests.extender.door import Door, pod_json
from tests.waiting import wait_until

FILTER = {"Pod": pod_json(), "NodeNames": ["n1"]}


class Served:
    """The bridge behind a real server, and the client's end of a connection to it."""

    def __init__(self, door: Door) -> None:
        self.port = free_port()
        config = uvicorn.Config(
            door.bridge, port=self.port, lifespan="off", log_config=None, access_log=False
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        wait_until(lambda: self._server.started)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()

    def send(self, path: str, body: Any) -> socket.socket:
        text = orjson.dumps(body)
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}\r\n\r\n"
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        connection.sendall(head.encode() + text)
        return connection


@pytest.fixture
def served(door: Door) -> Iterator[Served]:
    served = Served(door)
    yield served
    served.stop()


def undelivered(verb: str) -> float:
    return REGISTRY.get_sample_value("hami_scheduler_undelivered_answers_total", {"verb": verb}) or 0.0


def test_k16_a_decision_whose_caller_has_gone_is_counted_logged_and_stands(
    door: Door, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """It was written before it was to be told, so it counts; the next `/filter` takes it over."""
    before, under_way, goes_on = undelivered("filter"), threading.Event(), threading.Event()

    def hold(call: str) -> None:
        under_way.set()
        goes_on.wait(10)

    door.writer.before = hold
    connection = served.send("/filter", FILTER)
    assert under_way.wait(10)
    connection.close()
    goes_on.set()
    wait_until(lambda: undelivered("filter") == before + 1)
    assert "answer not delivered path=/filter error=client went away" in caplog.text
    assert len(door.writer.patches) == len(door.parts.state.pods()) == 1
    with served.send("/filter", FILTER) as again:
        assert b'"NodeNames":["n1"]' in again.recv(65536)
    assert len(door.parts.state.pods()) == 1
    assert undelivered("filter") == before + 1


def test_k16_a_bind_whose_caller_has_gone_is_counted_too(door: Door, served: Served) -> None:
    before = undelivered("bind")
    door.locks.held[NodeName("n1"), "hami.io/mutex.lock"] = "default/other"
    with served.send("/filter", FILTER) as placing:
        assert b'"NodeNames"' in placing.recv(65536)
    door.pods.seen["default/p"] = door.parts.state.pods()[0].pod
    args = {"PodName": "p", "PodNamespace": "default", "PodUID": "uid-p", "Node": "n1"}
    connection = served.send("/bind", args)
    wait_until(lambda: door.parts.turns.waiting == 1)
    connection.close()
    door.locks.held.clear()
    door.parts.turns.node_changed(NodeName("n1"))
    wait_until(lambda: undelivered("bind") == before + 1)
    assert door.writer.bound == [("default/p", "uid-p", "n1")]
