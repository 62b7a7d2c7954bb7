"""Who leads is observed, never decided here (L-1 to L-7)."""

import threading
from dataclasses import dataclass, field

import pytest

from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.types import Lease
from scheduler_app.engine.leadership import Leadership
from tests.fakes.clock import FakeClock

HOST = "hami-scheduler-1"
OURS = Lease(f"{HOST}_abc", 15, "t0")
THEIRS = Lease("other_abc", 15, "t0")


@dataclass
class Watched:
    """A leadership with its clock; ``started`` counts the calls of the started callback."""

    elects: bool = True
    clock: FakeClock = field(default_factory=FakeClock)
    started: int = 0

    def __post_init__(self) -> None:
        self.leadership = Leadership(
            config=SchedulerConfig(leader_elect=self.elects, host_name=HOST),
            on_started=self._start,
            monotonic=self.clock.monotonic,
            clock=self.clock,
        )

    def _start(self) -> None:
        self.started += 1

    def renew(self, lease: Lease = OURS, at: str = "t1") -> None:
        self.leadership.observe(Lease(lease.holder, lease.duration_seconds, at))

    def is_follower(self) -> bool:
        return not (self.leadership.is_leader or self.leadership.is_synced)

    def lead(self) -> None:
        """Lead and be synced."""
        self.leadership.observe(OURS)
        self.leadership.set_synced()


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_without_election_everybody_leads() -> None:
    """L-2."""
    watched = Watched(elects=False)
    assert watched.leadership.is_leader
    assert not watched.leadership.is_synced
    watched.leadership.set_synced()
    assert watched.leadership.is_synced


def test_before_a_lease_is_seen_nobody_leads(watched: Watched) -> None:
    """L-4."""
    assert not watched.leadership.is_leader
    assert watched.leadership.why_not_synced() == "not the leader: the lease is held by nobody"


@pytest.mark.parametrize(
    ("holder", "leads"),
    [
        (HOST, True),
        (f"{HOST}_x", True),
        ("hami-scheduler-10_x", False),
        ("hami-scheduler-1x", False),
        ("", False),
        ("_x", False),
    ],
)
def test_e08_the_holder_is_the_host_up_to_the_separator(watched: Watched, holder: str, leads: bool) -> None:
    """Q-10."""
    watched.leadership.observe(Lease(holder, 15))
    assert watched.leadership.is_leader is leads


def test_e06_a_lease_without_duration_leads_nobody(watched: Watched) -> None:
    """L-4."""
    watched.leadership.observe(Lease(OURS.holder, None))
    assert not watched.leadership.is_leader


def test_a_host_without_name_never_leads() -> None:
    clock = FakeClock()
    leadership = Leadership(
        config=SchedulerConfig(leader_elect=True),
        on_started=lambda: None,
        monotonic=clock.monotonic,
        clock=clock,
    )
    leadership.observe(Lease("_x", 15))
    assert not leadership.is_leader


def test_q_11_an_expired_lease_ends_leadership_at_once(watched: Watched) -> None:
    """J06: by the monotonic clock, from when we saw the change."""
    watched.lead()
    watched.clock.advance(14.9)
    assert watched.leadership.is_leader
    watched.clock.advance(0.1)
    assert watched.is_follower()
    assert watched.leadership.why_not_synced().startswith("not the leader")


def test_q_11_a_resync_of_the_same_renewal_prolongs_nothing(watched: Watched) -> None:
    watched.lead()
    watched.clock.advance(10)
    watched.leadership.observe(OURS)
    watched.clock.advance(6)
    assert not watched.leadership.is_leader


def test_renewals_are_silent_and_prolong(watched: Watched) -> None:
    """L-5."""
    watched.lead()
    watched.clock.advance(10)
    watched.renew()
    watched.clock.advance(10)
    assert watched.leadership.is_synced
    assert watched.started == 1


def test_a_lease_renewed_after_it_expired_starts_a_new_term(watched: Watched) -> None:
    """L-5 (X), Q-11: a pass is asked for, and until it ends the replica is not synced."""
    watched.lead()
    watched.clock.advance(20)
    watched.renew()
    assert watched.started == 2
    assert watched.leadership.is_leader
    assert not watched.leadership.is_synced


def test_losing_the_lease_to_another_host_ends_being_synced(watched: Watched) -> None:
    """L-5, L-7."""
    watched.lead()
    watched.leadership.observe(THEIRS)
    assert not watched.leadership.is_synced
    assert "other_abc" in watched.leadership.why_not_synced()
    watched.leadership.observe(OURS)
    assert watched.started == 2
    assert not watched.leadership.is_synced


def test_a_deleted_lease_ends_leadership(watched: Watched) -> None:
    watched.lead()
    watched.leadership.lost()
    assert watched.is_follower()


def test_a_pass_that_ends_after_leadership_was_lost_syncs_nothing(watched: Watched) -> None:
    """L-7."""
    watched.leadership.observe(THEIRS)
    watched.leadership.set_synced()
    watched.leadership.observe(OURS)
    assert not watched.leadership.is_synced


def test_e02_a_follower_does_not_wait(watched: Watched) -> None:
    """H-15: told at once; with a timeout that would fail the test if it were waited for."""
    assert not watched.leadership.wait_synced(3600)


def test_a_leader_waits_for_its_first_pass(watched: Watched) -> None:
    watched.leadership.observe(OURS)
    waiting = threading.Thread(target=watched.leadership.set_synced)
    waiting.start()
    assert watched.leadership.wait_synced(5)
    waiting.join()


def test_a_leader_that_waited_in_vain_says_why(watched: Watched) -> None:
    watched.leadership.observe(OURS)
    assert not watched.leadership.wait_synced(0)
    assert watched.leadership.why_not_synced() == "not synced: no registration pass has ended yet"
