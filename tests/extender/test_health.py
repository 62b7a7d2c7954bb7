"""Probes (H-20, H-21), and what a replica that does not lead answers (E01, E02)."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from scheduler_app import bootstrap
from scheduler_app.core.types import Lease
from tests.extender.door import Door, gpu_node, pod_json


def make_door(**flags: Any) -> Door:
    door = Door(
        leader_elect=True,
        leader_elect_resource_name="lease",
        leader_elect_resource_namespace="sys",
        HOST_NAME="me",
        **flags,
    )
    door.register(gpu_node("n1", "a"))
    return door


@pytest.fixture
def replica() -> Iterator[Door]:
    door = make_door()
    yield door
    door.close()


def lead(door: Door, *, synced: bool = True, holder: str = "me_1") -> None:
    door.parts.leadership.observe(Lease(holder, 3600, "t"))
    if synced:
        door.parts.leadership.set_synced()


def readyz(door: Door) -> tuple[int, str]:
    answer = door.ask("GET", "/readyz")
    return answer.status, answer.body.decode()


def test_healthz_is_always_200_and_empty(replica: Door) -> None:
    answer = replica.ask("GET", "/healthz")
    assert (answer.status, answer.body) == (200, b"")


def test_e01_a_follower_is_not_ready_and_says_who_leads(replica: Door) -> None:
    assert readyz(replica) == (503, "not the leader: the lease is held by nobody\n")
    lead(replica, holder="you_1")
    assert readyz(replica) == (503, "not the leader: the lease is held by you_1\n")


def test_probes_of_a_follower_are_no_errors_in_the_log(
    replica: Door, caplog: pytest.LogCaptureFixture
) -> None:
    assert readyz(replica)[0] == 503
    assert caplog.records == []


def test_e01_followers_may_be_ready_by_a_setting() -> None:
    """READYZ_FOLLOWER_OK: but a leader that is not synced is not."""
    door = make_door(READYZ_FOLLOWER_OK=True)
    try:
        assert readyz(door) == (200, "")
        lead(door, synced=False)
        assert readyz(door)[0] == 503
    finally:
        door.close()


def test_a_leader_is_ready_once_its_first_pass_ended(replica: Door) -> None:
    lead(replica, synced=False)
    assert readyz(replica) == (503, "not synced: no registration pass has ended yet\n")
    replica.parts.leadership.set_synced()
    assert readyz(replica) == (200, "")


def test_a_pass_on_a_follower_changes_nothing(replica: Door) -> None:
    """R-3: a leader would drop the node that no watch has told of."""
    lead(replica, synced=False, holder="you_1")
    replica.parts.registration._run_pass()
    assert replica.parts.state.registered() == ("n1",)
    lead(replica, synced=False)
    replica.parts.registration._run_pass()
    assert replica.parts.state.registered() == ()


def test_q_11_a_leader_that_lost_the_lease_is_not_ready_at_once(replica: Door) -> None:
    lead(replica)
    replica.parts.leadership.lost()
    assert readyz(replica)[0] == 503


def test_e02_a_follower_answers_filter_with_an_error_at_once(replica: Door) -> None:
    """Q-12, L-4."""
    answer = replica.post("/filter", {"Pod": pod_json(), "NodeNames": ["n1"]})
    assert (answer.status, answer.error) == (200, "not the leader: the lease is held by nobody")
    assert replica.writer.patches == []


def test_e02_that_holds_for_pods_without_cards_too(replica: Door) -> None:
    """H-8: the wait comes before the filter."""
    answer = replica.post("/filter", {"Pod": pod_json(mem=None), "NodeNames": ["n1"]})
    assert answer.error.startswith("not the leader")


def test_malformed_bodies_are_told_before_that(replica: Door) -> None:
    """H-8: decode errors are answered even when not synced."""
    assert replica.post("/filter", {}).error == "extender args missing pod"


def test_a_leader_that_never_syncs_answers_an_error(replica: Door) -> None:
    """H-15: after the wait; none here, so that the test does not wait either."""
    config = replace(replica.parts.config, unsynced_wait_seconds=0.0)
    bootstrap.install(replace(replica.parts, config=config))
    lead(replica, synced=False)
    answer = replica.post("/filter", {"Pod": pod_json(), "NodeNames": ["n1"]})
    assert answer.error == "not synced: no registration pass has ended yet"


def test_h_16_bind_and_webhook_are_answered_by_followers(replica: Door) -> None:
    assert replica.post("/bind", {"PodName": "x"}).error == 'pod "x" not found'
    review = {"request": {"uid": "u", "object": pod_json()}}
    assert replica.post("/webhook", review).json()["response"]["allowed"] is True
