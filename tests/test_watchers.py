"""What a change of a node asks for."""

from dataclasses import dataclass, field, replace

import pytest

from scheduler_app.core.types import Node, Pod
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.pending import PendingBoard
from scheduler_app.engine.turns import NodeTurns
from scheduler_app.watchers import NodeWatcher, PodWatcher
from tests.engine.world import PLAIN_ONLY, World, asking, pod_of, registered
from tests.factories import make_node
from tests.fakes.told import FakeEvents

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


class Gap:
    """Pods that `/filter` knows of and the watch does not: they came and went in a gap of it."""

    def __init__(self) -> None:
        self.world = World(registered("n1", "a"))
        self.board = PendingBoard(backends=PLAIN_ONLY, scheduler_name="hami-scheduler")
        self.there: set[str] = set()
        self.watcher = PodWatcher(
            self.world.state, self.board, NodeTurns(), FakeEvents(), is_there=lambda uid: uid in self.there
        )

    def filter(self, pod: Pod) -> None:
        self.board.decided(self.world.filter(pod))

    def waiting(self) -> list[str]:
        return [pod.name for pod in self.board.waiting()]


def test_i08_a_pod_that_came_and_went_in_a_gap_of_the_watch_counts_until_the_next_list() -> None:
    """Nobody will ever tell that it was deleted; a refused one would wait in the console for ever."""
    gap = Gap()
    gap.filter(pod_of())
    gap.filter(pod_of(asking(mem_mib=10**6), name="big"))
    gap.watcher.listing()
    gap.watcher.replaced()
    assert gap.world.is_idle()
    assert gap.waiting() == []


def test_what_is_decided_while_the_list_is_on_its_way_stays() -> None:
    """The list may be older than the decision."""
    gap = Gap()
    gap.watcher.listing()
    gap.filter(pod_of())
    gap.watcher.replaced()
    gap.watcher.replaced()
    assert gap.waiting() == ["p"]
    assert len(gap.world.state.pods()) == 1


def test_what_is_in_the_list_stays() -> None:
    gap = Gap()
    gap.filter(pod_of())
    gap.there.add("uid-p")
    gap.watcher.listing()
    gap.watcher.replaced()
    assert len(gap.world.state.pods()) == 1
