"""Many small changes become few publications; nothing is told twice and nothing is missed."""

import threading

import pytest

from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import HealthReport
from scheduler_app.core.publication import Publication
from scheduler_app.core.types import Lease, NodeName
from scheduler_app.engine import publisher as module
from scheduler_app.engine.leadership import Leadership
from scheduler_app.engine.pending import PendingBoard
from scheduler_app.engine.pictures import Pictures
from scheduler_app.engine.publisher import Publisher
from scheduler_app.engine.registration import PassReport
from tests.engine.world import PLAIN_ONLY, VENDOR, World, asking, holding, pod_of, registered
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeNodes
from tests.fakes.told import FakeLive
from tests.waiting import wait_until

N1 = NodeName("n1")


class Press:
    def __init__(self) -> None:
        self.nodes = FakeNodes([registered("n1", "a"), registered("n2", "b")])
        self.world, self.live = World(*self.nodes.list()), FakeLive()
        self.problems: dict[NodeName, str] = {}
        self.board = PendingBoard(backends=PLAIN_ONLY, scheduler_name="hami")
        self.clock, self.health = FakeClock(), list[HealthReport]()
        config = SchedulerConfig(leader_elect=True, host_name="me")
        self.leadership = Leadership(
            config=config, on_started=lambda: None, monotonic=self.clock.monotonic, clock=self.clock
        )
        pictures = Pictures(
            state=self.world.state,
            backends=PLAIN_ONLY,
            titles={VENDOR: "Plain"},
            node=self.nodes.get,
            problems=lambda: self.problems,
            registered_ms=lambda: 0,
        )
        self.publisher = Publisher(
            epoch="e",
            state=self.world.state,
            board=self.board,
            pictures=pictures,
            leadership=self.leadership,
            config=config,
            live=self.live,
            sources=list,
            report=lambda: PassReport(12.5, 0.25, 2),
            keep_health=self.health.append,
        )

    def publish(self) -> Publication | None:
        """Return what one tick published."""
        before = len(self.live.published)
        self.publisher.publish_once()
        return self.live.published[-1] if len(self.live.published) > before else None

    def told(self) -> Publication:
        publication = self.publish()
        assert publication is not None
        return publication


@pytest.fixture
def press() -> Press:
    press = Press()
    press.publish()
    return press


def test_the_first_publication_has_all_nodes() -> None:
    told = Press().told()
    assert [node.name for node in told.nodes] == ["n1", "n2"]
    assert (told.base, told.epoch, told.last_pass_ms, told.last_pass_duration_ms) == (0, "e", 12500, 250.0)


def test_when_nothing_changed_nothing_is_published(press: Press) -> None:
    assert press.publish() is None


def test_ages_are_told_although_nothing_changed(press: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    told = press.told()
    assert (told.nodes, told.quotas, told.decisions) == ([], None, ())


def test_only_what_changed_is_told_and_revisions_join(press: Press) -> None:
    before = press.live.published[-1]
    press.world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    told = press.told()
    assert [node.name for node in told.nodes] == ["n1"]
    assert told.base == before.revision < told.revision
    assert [(quota.resource, quota.used) for quota in told.quotas or ()] == [
        ("plain.io/cores", 10),
        ("plain.io/mem", 100),
    ]


def test_a_change_of_the_node_object_alone_is_told(press: Press) -> None:
    """Locks and readiness do not change the state."""
    press.nodes.change("n1", is_ready=False)
    press.publisher.node_changed(N1)
    told = press.told()
    assert [(node.name, node.state) for node in told.nodes] == [("n1", "silent")]


def test_a_node_that_left_is_gone(press: Press) -> None:
    del press.nodes.seen[N1]
    press.world.state.drop_node(N1)
    press.publisher.node_changed(N1)
    told = press.told()
    assert (told.gone, told.nodes) == (["n1"], [])


def test_a_node_whose_cards_left_is_unregistered(press: Press) -> None:
    press.world.state.drop_node(N1)
    assert [(node.name, node.state) for node in press.told().nodes] == [("n1", "unregistered")]


def test_what_a_registration_pass_found_is_told_although_the_node_is_as_it_was(press: Press) -> None:
    """N16, Q-50: a text that cannot be read leaves the node's cards and its object alone."""
    press.problems = {N1: "Plain: not JSON"}
    assert [(node.name, node.problem) for node in press.told().nodes] == [("n1", "Plain: not JSON")]
    assert press.publish() is None
    press.problems = {}
    assert [(node.name, node.problem) for node in press.told().nodes] == [("n1", "")]


def test_decisions_and_waiting_pods_are_told_once(press: Press) -> None:
    press.board.decided(press.world.filter(pod_of(asking(mem_mib=10**6))))
    told = press.told()
    assert ([view.pod for view in told.decisions], len(told.pending_put)) == (["p"], 1)
    assert press.publish() is None


def test_a_change_of_leader_is_an_event(press: Press) -> None:
    press.leadership.observe(Lease("me_x", 15, "t"))
    press.leadership.set_synced()
    told = press.told()
    assert [(event.text, event.severity) for event in told.events] == [
        ("leader.changed", "ok"),
        ("synced.changed", "ok"),
    ]
    assert (told.leader.is_leader, told.leader.holder, told.leader.is_synced) == (True, "me_x", True)
    press.clock.advance(60)
    assert [event.text for event in press.told().events] == ["leader.changed", "synced.changed"]


def test_the_whole_picture_takes_nothing_from_the_changes(press: Press) -> None:
    press.world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    whole = press.publisher.whole()
    assert whole.is_whole
    assert [node.name for node in whole.nodes] == ["n1", "n2"]
    assert [node.name for node in press.told().nodes] == ["n1"]


def test_the_whole_picture_has_nodes_without_cards_too(press: Press) -> None:
    """N16: whoever came late must see why a node has none, and which are gone."""
    press.world.state.drop_node(N1)
    press.told()
    assert [(node.name, node.state) for node in press.publisher.whole().nodes] == [
        ("n2", "ok"),
        ("n1", "unregistered"),
    ]
    press.world.register(press.nodes.seen[N1])
    press.told()
    assert sorted(node.name for node in press.publisher.whole().nodes) == ["n1", "n2"]
    press.world.state.drop_node(N1)
    press.told()
    del press.nodes.seen[N1]
    press.publisher.node_changed(N1)
    press.told()
    assert [node.name for node in press.publisher.whole().nodes] == ["n2"]


def test_the_thread_publishes_and_ends_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TICK_SECONDS", 0.001)
    press, stop = Press(), threading.Event()
    thread = threading.Thread(target=press.publisher.run, args=(stop,))
    thread.start()
    wait_until(lambda: len(press.live.published) == 1)
    stop.set()
    press.publisher.interrupt()
    thread.join(5)
    assert not thread.is_alive()


def test_f11_what_lies_on_cards_that_are_gone_is_logged_when_it_is_published(
    press: Press, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, whoever asks for the whole picture besides; and again of a node that left and came back."""
    press.world.state.see_pod(holding(pod_of(), "n1", "old,Plain,100,10:;"))
    press.told()
    press.publisher.whole()
    press.publisher.node_changed(N1)
    press.told()
    assert caplog.messages == ["card not registered pod=default/p node=n1 card=old"]
    node = press.nodes.seen.pop(N1)
    press.world.state.drop_node(N1)
    press.told()
    press.nodes.seen[N1] = node
    press.world.register(node)
    press.told()
    assert caplog.messages == ["card not registered pod=default/p node=n1 card=old"] * 2
