"""The lock that vendors share (B-9 to B-13; field reports L02 to L11; fixes Q-15 and Q-18)."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scheduler_app.core.annotations import NODE_LOCK
from scheduler_app.core.errors import HamiError, LockContentionError
from scheduler_app.core.types import NodeName, Pod
from scheduler_app.kube.errors import NodeLockError
from tests.factories import make_node, make_pod
from tests.kube.locker import N1, P1, RETRY, TAKEN, Locker, ago, on_patch, patch
from tests.kube.scripted_server import Request
from tests.kube.tiny_api import Fault


def test_a_free_node_is_locked_with_one_read_and_one_write(locker: Locker) -> None:
    """B-12, P-11: the patch rests on the version that was read (L07)."""
    locker.api.add_node("n1", a="b")
    assert locker.take(P1) is True
    assert locker.api.bodies() == [patch(TAKEN, version="100")]
    assert locker.api.annotations("n1") == {"a": "b", NODE_LOCK: TAKEN}
    assert locker.api.asked["GET"] == 1


def test_the_same_pod_takes_its_lock_again_without_writing(locker: Locker) -> None:
    """B-11 (2): the time is not refreshed (Parity: Q-16)."""
    locker.api.add_node("n1", **{NODE_LOCK: f"{ago(minutes=1)},default,p1"})
    assert locker.take(P1) is False
    assert locker.api.writes == []


@pytest.mark.parametrize("age", [{"minutes": 1}, {"seconds": 300}, {"hours": -1}])
def test_another_living_pods_lock_is_contention(locker: Locker, age: dict[str, float]) -> None:
    """B-11; a time in the future never expires."""
    locker.api.add_node("n1", **{NODE_LOCK: f"{ago(**age)},default,p2"})
    locker.api.add_pod("default", "p2")
    with pytest.raises(LockContentionError) as caught:
        locker.take(P1)
    assert str(caught.value) == "node n1 has been locked within 5m0s: node lock contention"
    assert locker.api.writes == []


@pytest.mark.parametrize(
    "lock",
    [
        f"{ago(minutes=6)},default,p2",
        f"{ago(minutes=6)},default,p1",
        ago(minutes=6),
        "2024-01-02T03:04:05+08:00",
    ],
    ids=["another's", "own", "old form", "old form with offset"],
)
def test_an_expired_lock_is_taken_over(locker: Locker, lock: str) -> None:
    """B-11 (1): removed, then set."""
    locker.api.add_node("n1", **{NODE_LOCK: lock})
    locker.api.add_pod("default", "p2")
    assert locker.take(P1) is True
    assert locker.api.bodies() == [patch(None, version="100"), patch(TAKEN, version="101")]


@pytest.mark.parametrize("age", [{"minutes": 1}, {"hours": -1}])
def test_the_lock_of_a_pod_that_is_gone_is_taken_over_at_once(locker: Locker, age: dict[str, float]) -> None:
    """L04, B-11 (3)."""
    locker.api.add_node("n1", **{NODE_LOCK: f"{ago(**age)},default,p2"})
    assert locker.take(P1) is True


@pytest.mark.parametrize("lock", [ago(minutes=1), f"{ago(minutes=1)},,", f"{ago(minutes=1)},,p9"])
def test_a_fresh_lock_without_owner_is_contention(locker: Locker, lock: str) -> None:
    """B-11 (4); L09: the old form."""
    locker.api.add_node("n1", **{NODE_LOCK: lock})
    with pytest.raises(LockContentionError):
        locker.take(P1)


@pytest.mark.parametrize(
    "lock", ["", "x", ",", ",,", "x,y", "x,y,z", "a,b,default,p1", "bad,ns,p", "1700000000"]
)
def test_a_lock_that_cannot_be_read_is_reported_and_void(locker: Locker, lock: str) -> None:
    """Q-15, L09: the reference never gets past it."""
    locker.api.add_node("n1", **{NODE_LOCK: lock})
    assert locker.take(P1) is True
    assert locker.api.annotations("n1") == {NODE_LOCK: TAKEN}
    assert len(locker.reports) == 1
    assert locker.reports[0].startswith("n1: ")


@pytest.mark.parametrize("rest", [",a", ",a,b,c"])
def test_a_malformed_lock_with_a_time_expires_by_it(locker: Locker, rest: str) -> None:
    """Q-15: it may be the form of a newer node plugin, which then keeps its lock as long as any other."""
    locker.api.add_node("n1", **{NODE_LOCK: ago(minutes=1) + rest})
    with pytest.raises(LockContentionError):
        locker.take(P1)
    locker.api.annotate("n1", **{NODE_LOCK: ago(minutes=6) + rest})
    assert locker.take(P1) is True
    assert len(locker.reports) == 2


def test_a_node_that_is_gone_is_told_in_the_servers_words(locker: Locker) -> None:
    """B-10."""
    with pytest.raises(HamiError) as caught:
        locker.take(P1)
    assert str(caught.value) == 'nodes "n1" not found'


def test_an_owner_that_cannot_be_read_fails_the_lock(locker: Locker) -> None:
    """B-11 (3): only "not found" proves that it is gone."""
    locker.api.add_node("n1", **{NODE_LOCK: f"{ago(minutes=1)},default,p2"})
    locker.api.faults.append(Fault("GET", "/pods/", message="etcd"))
    with pytest.raises(HamiError, match=r"^etcd$"):
        locker.take(P1)


@pytest.mark.parametrize("failures", [1, 4])
def test_a_failed_write_is_tried_again_with_growing_pauses(locker: Locker, failures: int) -> None:
    """B-12, L10: 100, 200, 400, 800 ms, each plus up to half."""
    locker.api.add_node("n1")
    locker.api.faults.append(Fault("PATCH", "/nodes/n1", status=409, times=failures))
    assert locker.take(P1) is True
    assert len(locker.api.writes) == failures + 1
    for pause, least in zip(locker.sleeps, [0.1, 0.2, 0.4, 0.8], strict=False):
        assert least <= pause <= 1.5 * least


def test_five_failed_writes_are_the_end(locker: Locker) -> None:
    locker.api.add_node("n1")
    locker.api.faults.append(Fault("PATCH", "/nodes/n1", status=409, message="the object has been modified"))
    with pytest.raises(NodeLockError) as caught:
        locker.take(P1)
    assert str(caught.value) == f"failed to set node lock (node=n1, {RETRY}): the object has been modified"
    assert len(locker.api.writes) == 5


def test_a_lost_answer_shows_as_a_lock_of_our_own(locker: Locker) -> None:
    """B-12: the patch went through although we were told that it had not."""
    locker.api.add_node("n1")
    locker.api.faults.append(Fault("PATCH", "/nodes/n1", times=1))
    locker.api.before = on_patch(locker, lambda: locker.api.annotate("n1", **{NODE_LOCK: TAKEN}))
    assert locker.take(P1) is True
    assert len(locker.api.writes) == 1


def test_a_lock_that_another_pod_set_meanwhile_is_left_alone(locker: Locker) -> None:
    """L07: another owner between GET and PATCH."""
    locker.api.add_node("n1")
    other = f"{ago(seconds=1)},default,p2"
    locker.api.before = on_patch(locker, lambda: locker.api.annotate("n1", **{NODE_LOCK: other}))
    with pytest.raises(LockContentionError) as caught:
        locker.take(P1)
    assert str(caught.value) == (
        f"failed to set node lock (node=n1, {RETRY}): node n1 is locked: node lock contention"
    )
    assert locker.api.annotations("n1") == {NODE_LOCK: other}


def test_taking_over_leaves_a_lock_that_changed_hands(locker: Locker) -> None:
    """L07: judged expired, then replaced by a fresh one before we removed it."""
    locker.api.add_node("n1", **{NODE_LOCK: f"{ago(minutes=6)},default,p2"})
    fresh = f"{ago(seconds=1)},default,p3"
    locker.api.before = on_patch(locker, lambda: locker.api.annotate("n1", **{NODE_LOCK: fresh}))
    with pytest.raises(LockContentionError, match=r"^node n1 is locked: node lock contention$"):
        locker.take(P1)
    assert locker.api.annotations("n1") == {NODE_LOCK: fresh}


def test_taking_over_fails_when_the_old_lock_cannot_be_removed(locker: Locker) -> None:
    locker.api.add_node("n1", **{NODE_LOCK: f"{ago(minutes=6)},default,p2"})
    locker.api.faults.append(Fault("PATCH", "/nodes/n1", message="release failed", contains="null"))
    with pytest.raises(NodeLockError) as caught:
        locker.take(P1)
    assert str(caught.value) == f"failed to release node lock (node=n1, {RETRY}): release failed"


def test_release_removes_the_own_lock_whenever_it_was_written(locker: Locker) -> None:
    """B-13: restamped by the node plugin, it still is ours."""
    locker.api.add_node("n1")
    locker.take(P1)
    locker.api.annotate("n1", **{NODE_LOCK: f"{ago(seconds=-9)},default,p1"})
    locker.give_back(P1)
    assert locker.api.annotations("n1") == {}
    assert locker.api.bodies()[-1] == patch(None, version="102")


@pytest.mark.parametrize("lock", [f"{ago()},default,p2", f"{ago()},other,p1", ago(), "garbage"])
def test_release_leaves_every_other_lock(locker: Locker, lock: str) -> None:
    """L02, Q-15, Q-18: only the own lock is released, the old form included."""
    locker.api.add_node("n1", **{NODE_LOCK: lock})
    locker.give_back(P1)
    assert locker.api.writes == []


def test_release_of_a_free_node_is_nothing(locker: Locker) -> None:
    locker.api.add_node("n1")
    locker.give_back(P1)
    assert locker.api.writes == []


def test_release_keeps_trying_against_conflicts(locker: Locker) -> None:
    """L11: the one key after a fresh read, so that a stale node object is never written back."""
    locker.api.add_node("n1", **{NODE_LOCK: TAKEN})
    changes = iter(["1", "2"])

    def interfere() -> None:
        if (change := next(changes, None)) is not None:
            locker.api.annotate("n1", somebody=change)

    locker.api.before = on_patch(locker, interfere)
    locker.give_back(P1)
    assert locker.api.annotations("n1") == {"somebody": "2"}


def test_release_stops_when_the_lock_changes_hands(locker: Locker) -> None:
    locker.api.add_node("n1", **{NODE_LOCK: TAKEN})
    other = f"{ago()},default,p2"
    locker.api.before = on_patch(locker, lambda: locker.api.annotate("n1", **{NODE_LOCK: other}))
    locker.give_back(P1)
    assert locker.api.annotations("n1") == {NODE_LOCK: other}


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_release_survives_a_fault_on_each_call(locker: Locker, method: str) -> None:
    """L06: a read fails the release at once, a write is tried five times."""
    locker.api.add_node("n1", **{NODE_LOCK: TAKEN})
    locker.api.faults.append(Fault(method, "/nodes/n1", times=1, skip=1 if method == "GET" else 0))
    locker.api.faults.append(Fault("PATCH", "/nodes/n1", times=1))
    locker.give_back(P1)
    assert locker.api.annotations("n1") == {}


def test_release_gives_up_after_five_writes(locker: Locker) -> None:
    locker.api.add_node("n1", **{NODE_LOCK: TAKEN})
    locker.api.faults.append(Fault("PATCH", "/nodes/n1", message="release failed"))
    with pytest.raises(NodeLockError) as caught:
        locker.give_back(P1)
    assert str(caught.value) == f"failed to release node lock (node=n1, {RETRY}): release failed"
    assert len(locker.api.writes) == 5


def test_of_many_binds_on_one_node_one_gets_the_lock(locker: Locker) -> None:
    """B-9, L10: the others fail at once, without a storm of conflicts."""
    locker.api.add_node("n1")
    pods = [make_pod(name=f"p{number}") for number in range(12)]
    for pod in pods:
        locker.api.add_pod("default", pod.name)

    def attempt(pod: Pod) -> bool:
        try:
            return locker.take(pod)
        except LockContentionError:
            return False

    with ThreadPoolExecutor(len(pods)) as pool:
        assert sum(pool.map(attempt, pods)) == 1
    assert len(locker.api.writes) == 1


def test_nodes_do_not_wait_for_each_other(locker: Locker) -> None:
    """L10: one lock for the process would hold everybody up behind one slow node."""
    locker.api.add_node("n1")
    locker.api.add_node("n2")
    slow, reached = threading.Event(), threading.Event()

    def before(request: Request) -> None:
        if request.path.endswith("/n1"):
            reached.set()
            slow.wait(5)

    locker.api.before = before
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(locker.take, P1)
        assert reached.wait(5)
        assert locker.take(make_pod(name="p2"), node=make_node("n2")) is True
        slow.set()
        assert waiting.result(5) is True


def test_a_forgotten_node_can_be_locked_again(locker: Locker) -> None:
    """M-6."""
    locker.api.add_node("n1")
    locker.take(P1)
    locker.locks.forget(N1)
    locker.locks.forget(NodeName("never-seen"))
    assert locker.take(P1) is False
