"""The handshake: nodes are asked once; the silent leave until they advertise anew (R-5 to R-10)."""

import pytest

from scheduler_app.core.types import VendorKey
from tests.core.plain import COUNT, PLAIN, PlainBackend
from tests.engine.passes import HANDSHAKE, N1, Passes, handshaken
from tests.engine.world import REGISTER, VENDOR, registered

STAMP = "Requesting_2026-01-02 15:04:05"


class Second(PlainBackend):
    """The same vendor once more, under a key and annotations of its own."""

    vendor_key = VendorKey("Second")
    keys = type(PLAIN.keys)(allocated="s/allocated", register="s/register", handshake="s/handshake")


TWO = {VENDOR: PLAIN, VendorKey("Second"): Second()}


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
    passes = Passes(registered("n1", "a"), backends=TWO)
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
    """VB-23, VC-9, R-10."""
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
    """Q-2, VB-23: the stale register text alone does not bring it back, pass after pass."""
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


def test_n07_health_is_judged_although_the_text_cannot_be_read() -> None:
    """R-5."""
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.annotate(register="garbage")
    passes.nodes.change("n1", allocatable={COUNT: "0"})
    passes.run(after=61)
    assert passes.cards() == []


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

    passes = Passes(handshaken("Reported_x", "a"), backends=TWO)
    passes.annotate(**{"s/register": registered("n1", "z").annotations[REGISTER]})
    passes.run()
    assert passes.cards() == ["a", "z"]
    passes.nodes.change("n1", allocatable={COUNT: "0"})
    passes.annotate(**{"s/handshake": "Reported_x"})
    passes.writer.unreadable.add("n1")
    passes.run(after=61)
    assert passes.writer.patches[-1] == ("n1", {HANDSHAKE: None})
