"""A lock of a vendor's own, which holds a time and no owner (MLU-30 to MLU-32)."""

import pytest

from scheduler_app.core.errors import LockContentionError
from scheduler_app.kube.errors import NodeLockError
from tests.factories import make_node, make_pod
from tests.kube.locker import OWN, P1, TIMED, Locker, ago
from tests.kube.tiny_api import Fault


def test_an_own_lock_holds_the_time_alone(locker: Locker) -> None:
    """MLU-31: no version guard."""
    locker.api.add_node("n1")
    assert locker.take(P1, TIMED) is True
    assert locker.api.bodies() == [{"metadata": {"annotations": {OWN: "2026-01-02T15:04:05Z"}}}]


@pytest.mark.parametrize("age", [{"seconds": 30}, {"seconds": 120}, {"hours": -1}])
def test_a_valid_own_lock_is_no_contention(locker: Locker, age: dict[str, float]) -> None:
    """MLU-30: a pod group does not wait for it; strictly older than two minutes."""
    locker.api.add_node("n1", **{OWN: ago(**age)})
    with pytest.raises(NodeLockError) as caught:
        locker.take(P1, TIMED)
    assert str(caught.value) == "node n1 has been locked within 2 minutes"
    assert not isinstance(caught.value, LockContentionError)
    assert locker.api.writes == []


def test_an_expired_own_lock_is_removed_then_set(locker: Locker) -> None:
    locker.api.add_node("n1", **{OWN: ago(seconds=121)})
    assert locker.take(P1, TIMED) is True
    assert [body["metadata"]["annotations"][OWN] for body in locker.api.bodies()] == [
        None,
        "2026-01-02T15:04:05Z",
    ]


@pytest.mark.parametrize("text", ["", "x", f"{ago()},default,p1"])
def test_an_own_lock_that_cannot_be_read_is_reported_and_void(locker: Locker, text: str) -> None:
    """Q-15."""
    locker.api.add_node("n1", **{OWN: text})
    assert locker.take(P1, TIMED) is True
    assert len(locker.reports) == 1


def test_a_fresh_own_lock_is_seen_although_the_callers_copy_lacks_it(locker: Locker) -> None:
    """MLU-E30: the reference overwrites it."""
    locker.api.add_node("n1", **{OWN: ago(seconds=5)})
    with pytest.raises(NodeLockError):
        locker.take(P1, TIMED, node=make_node("n1"))


def test_without_a_fresh_read_the_callers_copy_decides(locker: Locker) -> None:
    """MLU-30."""
    locker.api.add_node("n1")
    locker.api.faults.append(Fault("GET", "/nodes/n1"))
    with pytest.raises(NodeLockError, match="within 2 minutes"):
        locker.take(P1, TIMED, node=make_node("n1", annotations={OWN: ago(seconds=5)}))
    assert locker.take(P1, TIMED, node=make_node("n1")) is True


@pytest.mark.parametrize(("failures", "works"), [(2, True), (5, True), (6, False)])
def test_an_own_lock_is_written_up_to_six_times(locker: Locker, failures: int, works: bool) -> None:
    """MLU-31, MLU-E31."""
    locker.api.add_node("n1")
    locker.api.faults.append(Fault("PATCH", "/nodes/n1", times=failures))
    if works:
        assert locker.take(P1, TIMED) is True
    else:
        with pytest.raises(NodeLockError, match=r"^setNodeLock exceeds retry count 5$"):
            locker.take(P1, TIMED)
    assert len(locker.api.writes) == min(failures + 1, 6)
    assert all(0 <= pause <= 0.05 for pause in locker.sleeps)


def test_an_own_lock_is_given_back_by_who_took_it(locker: Locker) -> None:
    """Q-18: the reference lets any failed bind remove it (MLU-E32)."""
    locker.api.add_node("n1")
    locker.take(P1, TIMED)
    locker.give_back(make_pod(name="p2"), TIMED)
    assert locker.api.annotations("n1") == {OWN: "2026-01-02T15:04:05Z"}
    locker.give_back(P1, TIMED)
    assert locker.api.annotations("n1") == {}
    locker.give_back(P1, TIMED)


def test_an_own_lock_that_somebody_else_wrote_stays(locker: Locker) -> None:
    locker.api.add_node("n1")
    locker.take(P1, TIMED)
    locker.api.annotate("n1", **{OWN: ago(seconds=-3)})
    locker.give_back(P1, TIMED)
    assert len(locker.api.writes) == 1


def test_giving_an_own_lock_back_is_tried_again(locker: Locker) -> None:
    """MLU-32, MLU-E33: PATCH, GET, PATCH, GET, PATCH."""
    locker.api.add_node("n1")
    locker.take(P1, TIMED)
    locker.api.asked.clear()
    locker.api.faults.append(Fault("PATCH", "/nodes/n1", times=2))
    locker.give_back(P1, TIMED)
    assert (locker.api.asked["GET"], locker.api.asked["PATCH"]) == (3, 3)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("GET", "/nodes/n1", message="etcd"), "failed to get node for lock release: etcd"),
        (
            Fault("GET", "/nodes/n1", message="etcd", skip=1),
            "failed to re-get node during release retry: etcd",
        ),
        (None, "releaseNodeLock exceeds retry count 5"),
    ],
)
def test_giving_an_own_lock_back_may_fail(locker: Locker, fault: Fault | None, text: str) -> None:
    """MLU-32."""
    locker.api.add_node("n1")
    locker.take(P1, TIMED)
    locker.api.faults.append(Fault("PATCH", "/nodes/n1"))
    if fault is not None:
        locker.api.faults.append(fault)
    with pytest.raises(NodeLockError) as caught:
        locker.give_back(P1, TIMED)
    assert str(caught.value) == text
