"""Which cards each node has: passes, the handshake, what goes and what comes back (R-1 to R-20)."""

import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import Node, NodeName, VendorKey
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.nodewrites import NodeWrites
from scheduler_app.engine.registration import Registrar, Registration
from tests.core.plain import COUNT, PLAIN, PlainBackend
from tests.devices.nvidia import cards as nvidia
from tests.engine.world import PLAIN_ONLY, REGISTER, VENDOR, registered
from tests.factories import make_node
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeNodes, FakeNodeWriter
from tests.fakes.told import FakeEvents
from tests.waiting import wait_until

HANDSHAKE = PLAIN.keys.handshake
STAMP = "Requesting_2026-01-02 15:04:05"
N1 = NodeName("n1")


class Passes:
    """A registrar over nodes as the watch has delivered them; writes go back into what the watch shows."""

    def __init__(
        self,
        *nodes: Node,
        backends: Mapping[VendorKey, DeviceBackend] = PLAIN_ONLY,
        selector: Mapping[str, str] | None = None,
    ) -> None:
        self.nodes, self.writer, self.events = FakeNodes(nodes), FakeNodeWriter(), FakeEvents()
        self.clock, self.state = FakeClock(), ClusterState(backends)
        self.writes = NodeWrites(self.writer)
        self.registrar = Registrar(
            backends=backends,
            state=self.state,
            nodes=self.nodes,
            writer=self.writer,
            writes=self.writes,
            events=self.events,
            selector=selector or {},
            now=self.clock.local,
        )

    def run(self, *, after: float = 0.0) -> None:
        """Run one pass and deliver what it wrote."""
        self.clock.advance(after)
        self.registrar.run_pass()
        seen = len(self.writer.patches)
        self.writes.drain()
        for name, written in self.writer.patches[seen:]:
            node = self.nodes.get(name)
            if node is not None:
                merged = {**node.annotations, **written}
                kept = {key: text for key, text in merged.items() if text is not None}
                self.nodes.change(name, annotations=kept)

    def annotate(self, name: str = "n1", **annotations: str | None) -> None:
        node = self.nodes.seen[NodeName(name)]
        keys = {"register": REGISTER, "handshake": HANDSHAKE}
        merged = {**node.annotations, **{keys.get(key, key): text for key, text in annotations.items()}}
        self.nodes.change(name, annotations={key: text for key, text in merged.items() if text is not None})

    def cards(self, name: str = "n1") -> list[str]:
        usage = self.state.everything().get(NodeName(name))
        return [card.id for card in usage.cards] if usage else []


def handshaken(text: str, *cards: str, count: int = 10) -> Node:
    """Return a node with cards whose handshake annotation is ``text``."""
    node = registered("n1", *cards)
    return make_node("n1", annotations={**node.annotations, HANDSHAKE: text}, allocatable={COUNT: str(count)})


def test_a_pass_registers_what_nodes_advertise() -> None:
    passes = Passes(registered("n1", "a", "b"), make_node("bare"))
    passes.run()
    assert passes.cards() == ["a", "b"]
    assert passes.state.registered() == ("n1",)
    assert passes.registrar.report.nodes == 2


def test_the_overview_is_the_state_at_the_end_of_the_pass() -> None:
    """R-17, R-18, M06."""
    passes = Passes(registered("n1", "a"))
    passes.run()
    assert list(passes.state.overview) == ["n1"]


def test_every_node_is_asked_once() -> None:
    """R-8, Q-28: one stamp; until it is answered there is no second one."""
    passes = Passes(registered("n1", "a"))
    passes.run()
    passes.run(after=15)
    assert passes.writer.patches == [("n1", {HANDSHAKE: STAMP})]
    assert passes.cards() == ["a"]


def test_q_28_a_stamp_that_still_waits_is_not_asked_for_again() -> None:
    passes = Passes(registered("n1", "a"))
    passes.registrar.run_pass()
    passes.clock.advance(15)
    passes.registrar.run_pass()
    passes.writes.drain()
    assert passes.writer.patches == [("n1", {HANDSHAKE: STAMP})]


def test_q_28_all_vendors_of_a_node_share_one_patch() -> None:
    class Second(PlainBackend):
        vendor_key = VendorKey("Second")
        keys = type(PLAIN.keys)(allocated="s/allocated", register="s/register", handshake="s/handshake")

    passes = Passes(registered("n1", "a"), backends={VENDOR: PLAIN, VendorKey("Second"): Second()})
    passes.run()
    assert passes.writer.patches == [("n1", {HANDSHAKE: STAMP, "s/handshake": STAMP})]


def test_a_node_that_cannot_be_read_is_not_stamped_and_not_updated() -> None:
    """R-8: its GET failed; what was cached stays, and the next pass tries again."""
    passes = Passes(registered("n1", "a"))
    passes.writer.unreadable.add("n1")
    passes.run()
    assert passes.cards() == []
    assert passes.writer.patches == []
    passes.writer.unreadable.clear()
    passes.run()
    assert passes.cards() == ["a"]


def test_r_19_one_bad_node_does_not_keep_the_others_out(caplog: pytest.LogCaptureFixture) -> None:
    passes = Passes(registered("n1", "a"), registered("n2", "b"), registered("n3", "c"))
    passes.writer.unreadable.add("n2")
    passes.annotate("n3", register="garbage")
    passes.run()
    assert passes.cards("n1") == ["a"]
    assert "nodes not read for handshake nodes=1 first=n2" in caplog.text


def test_an_api_server_that_gives_no_node_is_one_log_line(caplog: pytest.LogCaptureFixture) -> None:
    passes = Passes(*(registered(f"n{n}", f"a{n}") for n in range(30)))
    passes.writer.unreadable.update(f"n{n}" for n in range(30))
    passes.writer.why = "connection refused"
    passes.run()
    lines = [record.getMessage() for record in caplog.records if "handshake" in record.getMessage()]
    assert lines == ["nodes not read for handshake nodes=30 first=n0 error=connection refused"]


@pytest.mark.parametrize(
    "text", ["Requesting", "Requesting_xx", "Requesting_", "Requesting_2026-01-02T15:04:05"]
)
def test_n03_a_handshake_without_a_time_is_healthy_and_unchanged(text: str) -> None:
    """R-8."""
    passes = Passes(handshaken(text, "a"))
    passes.run()
    assert (passes.cards(), passes.writer.patches) == ([], [])


def test_n04_an_old_handshake_on_a_node_with_capacity_keeps_its_cards() -> None:
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.run(after=600)
    assert passes.cards() == ["a"]


def test_n08_n09_a_silent_node_without_capacity_leaves_and_only_its_handshake_is_removed() -> None:
    """R-10."""
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.nodes.change("n1", allocatable={COUNT: "0"})
    passes.run(after=61)
    assert passes.cards() == []
    assert passes.writer.patches[-1] == ("n1", {HANDSHAKE: None})


def test_before_a_minute_has_passed_it_stays() -> None:
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.nodes.change("n1", allocatable={})
    passes.run(after=59)
    assert passes.cards() == ["a"]


def test_q_02_a_vendor_that_left_stays_out_until_it_advertises_again() -> None:
    """The stale register text alone does not bring it back, pass after pass."""
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.nodes.change("n1", allocatable={COUNT: "0"})
    for _ in range(12):
        passes.run(after=61)
        assert passes.cards() == []
    passes.nodes.change("n1", allocatable={COUNT: "10"})
    passes.annotate(handshake="Reported_again")
    passes.run(after=15)
    assert passes.cards() == ["a"]


def test_f33_a_node_that_left_sharing_is_out_with_the_next_pass() -> None:
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.nodes.change("n1", allocatable={COUNT: "0"})
    passes.annotate(register=None)
    passes.run(after=61)
    assert passes.state.registered() == ()


def test_n06_an_explicit_empty_list_takes_the_vendor_s_cards_away() -> None:
    """R-12, VA-7: no clean-up, no problem told."""
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.annotate(register="[]", handshake="Reported_y")
    passes.run()
    assert passes.cards() == []
    assert passes.events.told == []


@pytest.mark.parametrize(
    "text", ["garbage", "[null]", '[{"id":1}]', '{"id":"a"}', '[{"id":"a","count":1e999}]']
)
def test_q_50_f13_malformed_text_is_told_once_and_the_loop_goes_on(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R-11: what was registered stays; node, vendor and reason in an Event, a log line and the problems."""
    passes = Passes(handshaken("Reported_x", "a"), registered("n2", "b"))
    passes.run()
    passes.annotate(register=text, handshake="Reported_y")
    for _ in range(3):
        passes.run(after=15)
    assert passes.cards() == ["a"]
    assert passes.cards("n2") == ["b"]
    (event,) = passes.events.told
    assert event[:2] == ("Warning", "RegistrationFailed")
    assert passes.events.about == ["n1"]
    assert passes.registrar.problems[N1].startswith("Plain: ")
    assert caplog.text.count("registration skipped node=n1 vendor=Plain") == 1


def test_n07_health_is_judged_although_the_text_cannot_be_read() -> None:
    """R-5."""
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.annotate(register="garbage")
    passes.nodes.change("n1", allocatable={COUNT: "0"})
    passes.run(after=61)
    assert passes.cards() == []


def test_a_problem_that_is_mended_is_no_problem() -> None:
    passes = Passes(handshaken("Reported_x", "a"))
    passes.annotate(register="garbage")
    passes.run()
    passes.annotate(register=registered("n1", "a").annotations[REGISTER], handshake="Reported_y")
    passes.run()
    assert passes.registrar.problems == {}
    assert passes.cards() == ["a"]


def test_only_nodes_with_all_labels_are_registered() -> None:
    """R-4."""
    passes = Passes(
        registered("n1", "a", labels={"gpu": "on", "zone": "b"}),
        registered("n2", "b", labels={"gpu": "on"}),
        selector={"gpu": "on", "zone": "b"},
    )
    passes.run()
    assert passes.state.registered() == ("n1",)


def test_q_36_a_node_that_leaves_the_selector_leaves_the_cache_and_the_overview() -> None:
    passes = Passes(registered("n1", "a", labels={"gpu": "on"}), selector={"gpu": "on"})
    passes.run()
    passes.nodes.change("n1", labels={})
    passes.run()
    assert passes.state.registered() == ()
    assert dict(passes.state.overview) == {}


def test_q_03_a_change_during_a_pass_is_not_overwritten_by_what_the_pass_saw() -> None:
    """A long pass works on older objects; the watch has told of a cordon meanwhile."""
    passes = Passes(handshaken("Reported_x", "a"))

    def cordon() -> None:
        passes.annotate(**{"hami.io/device-cordon": "a"})
        passes.state.refresh_node(passes.nodes.seen[N1])

    passes.writer.read = cordon
    passes.run()
    assert "hami.io/device-cordon" in passes.state.everything()[N1].node.annotations


def test_a_node_deleted_during_a_pass_is_not_registered_by_it() -> None:
    passes = Passes(registered("n1", "a"))

    def delete() -> None:
        del passes.nodes.seen[N1]
        passes.registrar.node_gone(N1)

    passes.writer.read = delete
    passes.run()
    assert passes.state.registered() == ()
    assert passes.writer.patches == []


def test_a_deleted_node_starts_afresh() -> None:
    """M-6, N15, NV-36."""
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.nodes.change("n1", allocatable={COUNT: "0"})
    passes.run(after=61)
    passes.registrar.node_gone(N1)
    passes.nodes.seen[N1] = handshaken("Reported_x", "a", count=0)
    passes.run()
    assert passes.cards() == ["a"]


def test_a_clean_up_is_not_lost_with_a_stamp_that_could_not_be_written() -> None:
    """R-10: one vendor leaves while another one's stamp fails for want of a read."""

    class Second(PlainBackend):
        vendor_key = VendorKey("Second")
        keys = type(PLAIN.keys)(allocated="s/allocated", register="s/register", handshake="s/handshake")

    passes = Passes(handshaken("Reported_x", "a"), backends={VENDOR: PLAIN, VendorKey("Second"): Second()})
    passes.annotate(**{"s/register": registered("n1", "z").annotations[REGISTER]})
    passes.run()
    assert passes.cards() == ["a", "z"]
    passes.nodes.change("n1", allocatable={COUNT: "0"})
    passes.annotate(**{"s/handshake": "Reported_x"})
    passes.writer.unreadable.add("n1")
    passes.run(after=61)
    assert passes.writer.patches[-1] == ("n1", {HANDSHAKE: None})


NVIDIA_ONLY: Mapping[VendorKey, DeviceBackend] = {nvidia.NVIDIA.vendor_key: nvidia.NVIDIA}


def gpu_node(name: str, *ids: str) -> Node:
    cards: list[dict[str, Any]] = [
        {"id": id, "count": 10, "devmem": 1000, "devcore": 100, "type": "NVIDIA-X", "health": True}
        for id in ids
    ]
    return make_node(
        name,
        annotations={
            "hami.io/node-nvidia-register": json.dumps(cards),
            "hami.io/node-handshake": "Requesting",
        },
        allocatable={nvidia.GPU: str(len(ids) * 10)},
    )


def test_n10_the_count_is_remembered_for_each_node() -> None:
    """R-7, NV-10: two nodes of different size do not make each other look changed."""
    passes = Passes(gpu_node("n1", "a"), gpu_node("n2", "b", "c"), backends=NVIDIA_ONLY)
    for _ in range(3):
        passes.run(after=15)
    revision = passes.state.take_changes().revision
    passes.run(after=15)
    assert passes.state.take_changes().revision == revision
    assert passes.cards("n2") == ["b", "c"]


def test_f30_a_changed_register_text_replaces_the_inventory() -> None:
    passes = Passes(gpu_node("n1", "a", "b"), backends=NVIDIA_ONLY)
    passes.run()
    passes.nodes.seen[N1] = gpu_node("n1", "b")
    passes.run(after=15)
    assert passes.cards() == ["b"]


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
