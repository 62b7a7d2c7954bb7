"""The handshake between scheduler and node plugin (P-13, R-8, VB-22)."""

from datetime import datetime, timedelta

import pytest

from scheduler_app.core import handshake
from scheduler_app.core.backend import Health
from tests.factories import make_node

KEY, COUNT = "hami.io/node-handshake-x", "x.io/gpu"
NOW = datetime(2026, 1, 2, 15, 4, 5)  # noqa: DTZ001  (the protocol's stamps carry no zone, Q-45)
QUIET, GONE = Health(healthy=True, needs_update=False), Health(healthy=False, needs_update=False)
ASK = Health(healthy=True, needs_update=True, stamp=True, update_follows_stamp=True)


def judge(text: str | None, *, capacity: str | None = None, key: str = KEY) -> Health:
    annotations = {} if text is None else {KEY: text}
    node = make_node(annotations=annotations, allocatable={} if capacity is None else {COUNT: capacity})
    return handshake.judge(node, key=key, count_resource=COUNT, now=NOW)


def asked(seconds_ago: int) -> str:
    return handshake.stamp(NOW - timedelta(seconds=seconds_ago))


def test_a_stamp_has_no_zone() -> None:
    """P-13."""
    assert handshake.stamp(NOW) == "Requesting_2026-01-02 15:04:05"


def test_a_vendor_without_handshake_is_always_read() -> None:
    """R-8."""
    assert judge("anything", key="") == Health(healthy=True, needs_update=True)


@pytest.mark.parametrize("text", [None, "", "Reported_2026-01-02 15:04:05", "Deleted_2026-01-02 15:04:05"])
def test_whoever_answered_is_asked_again(text: str | None) -> None:
    """R-8: and the update waits for the node to be read for stamping."""
    assert judge(text) == ASK


@pytest.mark.parametrize("age", [0, 59, -3600])
def test_a_fresh_question_waits(age: int) -> None:
    """R-8: also one from a clock that is ahead."""
    assert judge(asked(age)) == QUIET


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [(None, GONE), ("0", GONE), ("-1", GONE), ("8", QUIET), ("500m", QUIET)],
)
def test_an_old_question_ends_a_node_without_capacity(capacity: str | None, expected: Health) -> None:
    """R-8: after 60 seconds; the capacity is rounded up."""
    assert judge(asked(60), capacity=capacity) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Requesting",
        "Requesting_",
        "Requesting_soon",
        "Requesting_2026-01-02T15:04:05Z",
        "Requesting_2026-13-02 15:04:05",
    ],
)
def test_a_time_that_cannot_be_read_keeps_the_node(text: str) -> None:
    """R-8."""
    assert judge(text) == QUIET
