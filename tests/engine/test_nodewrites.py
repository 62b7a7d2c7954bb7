"""Annotations of nodes that wait to be written: merged, one patch each, and nobody waits for them (Q-28)."""

import threading

import pytest

from scheduler_app.core.types import NodeName
from scheduler_app.engine.nodewrites import NodeWrites
from tests.fakes.cluster import FakeNodeWriter
from tests.waiting import wait_until

N1, N2 = NodeName("n1"), NodeName("n2")


def test_what_waits_for_one_node_is_one_patch() -> None:
    writer = FakeNodeWriter()
    writes = NodeWrites(writer)
    writes.put(N1, {"a": "1", "b": "1"})
    writes.put(N2, {"a": "2"})
    writes.put(N1, {"b": None})
    assert writes.keys(N1) == {"a", "b"}
    writes.drain()
    assert writer.patches == [("n1", {"a": "1", "b": None}), ("n2", {"a": "2"})]
    assert len(writes) == 0


def test_a_node_that_is_gone_is_not_written() -> None:
    writer = FakeNodeWriter()
    writes = NodeWrites(writer)
    writes.put(N1, {"a": "1"})
    writes.drop(N1)
    writes.drain()
    assert writer.patches == []


def test_a_failure_is_logged_and_the_next_node_written(caplog: pytest.LogCaptureFixture) -> None:
    writer = FakeNodeWriter(unwritable={"n1"})
    writes = NodeWrites(writer)
    writes.put(N1, {"a": "1"})
    writes.put(N2, {"a": "1"})
    writes.drain()
    assert [name for name, _ in writer.patches] == ["n2"]
    assert "node not annotated node=n1 keys=1" in caplog.text


def test_the_thread_writes_what_comes_and_ends_when_told() -> None:
    writer = FakeNodeWriter()
    writes, stop = NodeWrites(writer), threading.Event()
    thread = threading.Thread(target=writes.run, args=(stop,))
    thread.start()
    writes.put(N1, {"a": "1"})
    wait_until(lambda: len(writer.patches) == 1)
    stop.set()
    writes.interrupt()
    thread.join(5)
    assert not thread.is_alive()
