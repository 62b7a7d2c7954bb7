"""What a change of a node asks for."""

from dataclasses import dataclass, field, replace

import pytest

from scheduler_app.core.types import Node
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.turns import NodeTurns
from scheduler_app.watchers import NodeWatcher
from tests.factories import make_node

REGISTER = "x.io/node-x-register"
NODE = make_node("n1", annotations={REGISTER: "a"}, capacity={"x.io/card": "1"})


@dataclass
class Told:
    """Counts the passes asked for and remembers what was published."""

    passes: int = 0
    changed: list[str] = field(default_factory=list)

    def watcher(self) -> NodeWatcher:
        return NodeWatcher(
            ClusterState({}),
            NodeTurns(),
            gone=lambda name: None,
            changed=self.changed.append,
            wake=self.wake,
        )

    def wake(self) -> None:
        self.passes += 1


@pytest.mark.parametrize(
    "now",
    [
        replace(NODE, annotations={REGISTER: "b"}),
        replace(NODE, labels={"zone": "b"}),
        replace(NODE, capacity={"x.io/card": "2"}),
        replace(NODE, allocatable={"x.io/card": "0"}),
    ],
)
def test_what_a_node_advertises_anew_is_looked_at_at_once(now: Node) -> None:
    """R-1: the reference waits for its next tick."""
    told = Told()
    told.watcher().updated(NODE, now)
    assert (told.passes, told.changed) == (1, ["n1"])


@pytest.mark.parametrize("key", ["hami.io/mutex.lock", "x.io/dsmlu.lock", "hami.io/node-handshake-x"])
def test_locks_and_handshakes_ask_for_no_pass(key: str) -> None:
    """They change with every bind and every pass."""
    told = Told()
    told.watcher().updated(NODE, replace(NODE, annotations={**NODE.annotations, key: "now"}))
    assert (told.passes, told.changed) == (0, ["n1"])


def test_a_heartbeat_is_no_news() -> None:
    told = Told()
    told.watcher().updated(NODE, replace(NODE))
    assert (told.passes, told.changed) == (0, [])


def test_nodes_that_come_or_go_ask_for_a_pass() -> None:
    """R-1."""
    told = Told()
    told.watcher().added(NODE)
    told.watcher().deleted(NODE)
    assert told.passes == 2
