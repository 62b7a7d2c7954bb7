"""One bind: locks, the phase, the Binding, and the way back from each failure (B-1 to B-8)."""

from dataclasses import replace

import pytest

from scheduler_app.core.backend import NodeLock
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import Container, NodeName, Pod
from tests.engine.bindbench import (
    LOCKED,
    N1,
    POD,
    Bench,
    Bound,
    backends,
    hold,
    patient,
    place,
    unlock,
    vendor,
)
from tests.engine.world import holding, pod_of
from tests.factories import make_container
from tests.fakes.cluster import FakePods
from tests.waiting import wait_until


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_bind_locks_marks_the_phase_and_creates_the_binding(bench: Bench) -> None:
    """B-4: the lock stays, the node plugin releases it (P-14)."""
    assert bench.bind() == ""
    assert bench.writer.patches[0].annotations == {
        "hami.io/bind-phase": "allocating",
        "hami.io/bind-time": "1700000000",
    }
    assert bench.writer.bound == [("default/p", "uid-p", "n1")]
    assert bench.locks.held == {("n1", "a.io/lock"): "default/p"}
    text = "Successfully binding node [n1] to default/p"
    assert bench.events.told == [("Normal", "BindingSucceed", text)]


def test_each_bind_is_recorded(bench: Bench) -> None:
    bench.bind()
    bench.bind("nobody")
    assert [outcome.error for outcome in bench.log.binds] == ["", 'pod "nobody" not found']


def test_f17_a_pod_that_is_gone_gives_its_reservation_back(bench: Bench) -> None:
    """B-1: by the request's uid; no event."""
    bench.state.assume(holding(POD, "n1", ""), before=POD, node=N1, devices={})
    bench.pods.seen.clear()
    assert bench.bind() == 'pod "p" not found'
    assert bench.state.pods() == ()
    assert bench.events.told == []


def test_f17_a_bind_that_is_faster_than_the_watch_does_not_end_the_next_decision(bench: Bench) -> None:
    """B-1: a pod that is not in our view may only be on its way."""
    bench.pods.seen.clear()
    assert bench.bind() == 'pod "p" not found'
    bench.state.begin_decision(POD.uid)
    place(bench)
    bench.state.end_decision(POD.uid)
    assert len(bench.state.pods()) == 1


def test_q_39_what_a_bind_to_a_missing_node_freed_stays_free(bench: Bench) -> None:
    """B-2: the pod's next event still has the old annotations."""
    decided = place(bench)
    bench.bind(node="n9")
    bench.state.see_pod(decided)
    assert bench.state.pods() == ()


def test_an_empty_body_binds_nothing(bench: Bench) -> None:
    """H-16, K08."""
    outcome = bench.binder.bind(namespace="", name="", uid="", node=NodeName(""))
    assert outcome.error == 'pod "" not found'
    assert bench.writer.patches == []
    assert bench.locks.calls == []


def test_a_node_that_is_gone_gives_the_reservation_back(bench: Bench) -> None:
    """B-2."""
    bench.state.assume(holding(POD, "n1", ""), before=POD, node=N1, devices={})
    assert bench.bind(node="n9") == 'node "n9" not found'
    assert bench.state.pods() == ()
    assert bench.events.told == [("Warning", "BindingFailed", "failed to get node n9")]


@pytest.mark.parametrize("call", ["patch_pod", "bind"])
def test_l06_l02_a_failed_call_releases_what_was_taken_and_keeps_the_reservation(
    bench: Bench, call: str
) -> None:
    """B-4, Q-19."""
    place(bench)
    bench.writer.fails[call] = HamiError("the server said no")
    assert bench.bind() == "the server said no"
    assert bench.locks.held == {}
    assert bench.events.told == [("Warning", "BindingFailed", "the server said no")]
    assert len(bench.state.pods()) == 1


def test_l08_what_was_taken_is_given_back_in_reverse_and_the_first_error_kept() -> None:
    """IF-7, IF-8, VB-25, B-5, Q-18: a failing release does not hide why."""
    three = Bench(FakePods([pod_of(asking_all("abc"))]), backends(vendor("c"), vendor("a"), vendor("b")))
    three.locks.fails = {
        ("acquire", "c.io/lock"): HamiError("c is malformed"),
        ("release", "b.io/lock"): HamiError("b will not go"),
    }
    assert three.bind() == "c is malformed"
    assert [call[:2] for call in three.locks.calls] == [
        ("acquire", "a.io/lock"),
        ("acquire", "b.io/lock"),
        ("acquire", "c.io/lock"),
        ("release", "b.io/lock"),
        ("release", "a.io/lock"),
    ]


def test_locks_are_taken_in_the_byte_order_of_the_keys_and_stay() -> None:
    """VB-25: capital letters first, so that any two schedulers of a cluster agree; nothing is released."""
    three = Bench(FakePods([pod_of(asking_all("aZb"))]), backends(vendor("b"), vendor("a"), vendor("Z")))
    assert three.bind() == ""
    assert [call[:2] for call in three.locks.calls] == [
        ("acquire", "Z.io/lock"),
        ("acquire", "a.io/lock"),
        ("acquire", "b.io/lock"),
    ]


def asking_all(letters: str) -> Container:
    return make_container("c", limits={f"{letter}.io/gpu": 1 for letter in letters})


def test_q_18_a_lock_that_the_pod_held_before_is_not_given_back(bench: Bench) -> None:
    """B-11 (2): this call did not take it."""
    hold(bench, owner="default/p")
    bench.writer.fails["bind"] = HamiError("conflict")
    bench.bind()
    assert bench.locks.held == {("n1", "a.io/lock"): "default/p"}


def test_l02_a_failing_bind_leaves_another_pod_s_lock_alone(bench: Bench) -> None:
    hold(bench)
    assert bench.bind() == LOCKED
    assert bench.locks.held == {("n1", "a.io/lock"): "default/other"}
    assert bench.events.told == [("Warning", "BindingFailed", LOCKED)]


def test_only_vendors_that_the_pod_asks_are_locked() -> None:
    """VA-8: neither the other vendor's lock nor one of a vendor without locks."""
    two = Bench(backends=backends(vendor("a"), vendor("b"), vendor("d", "-")))
    two.bind()
    assert [call[:2] for call in two.locks.calls] == [("acquire", "a.io/lock")]


def test_q_17_init_containers_count_for_locks() -> None:
    pod = pod_of(Container("web"), init_containers=(asking_all("a"),))
    bench = Bench(FakePods([pod]))
    bench.bind()
    assert len(bench.locks.calls) == 1


def test_a_pod_without_cards_takes_no_lock() -> None:
    bench = Bench(FakePods([pod_of(Container("web"))]))
    hold(bench)
    assert bench.bind() == ""
    assert bench.locks.calls == []


def test_bind_wait_zero_refuses_at_once(bench: Bench) -> None:
    """B-6: a single try, as the reference does."""
    hold(bench)
    assert bench.bind() == LOCKED
    assert len(bench.locks.calls) == 1


def test_l14_a_bind_waits_for_the_lock_and_goes_on_when_the_watch_tells() -> None:
    bench = Bench(config=patient())
    hold(bench)
    bound = Bound(bench)
    wait_until(lambda: len(bench.locks.calls) == 1)
    unlock(bench)
    assert bound.error() == ""


def test_patience_ends_with_the_contention_error() -> None:
    bench = Bench(config=patient(0.02))
    hold(bench)
    assert bench.bind() == LOCKED


def test_a_waiting_bind_sees_the_node_as_it_is_when_its_turn_comes() -> None:
    """The lock's text is read from the node object (B-10)."""
    bench = Bench(config=patient())
    hold(bench)
    seen: list[str] = []
    acquire = bench.locks.acquire

    def remember(lock: NodeLock, *, node: object, pod: Pod) -> bool:
        seen.append(node.resource_version)  # type: ignore[attr-defined]  # a Node
        return acquire(lock, node=node, pod=pod)  # type: ignore[arg-type]  # a Node

    bench.locks.acquire = remember  # type: ignore[method-assign]  # a spy, not another behaviour
    bound = Bound(bench)
    wait_until(lambda: len(seen) == 1)
    bench.nodes.change("n1", resource_version="2")
    unlock(bench)
    bound.error()
    assert seen == ["", "2"]


def test_l10_forty_binds_for_one_node_run_through_without_a_refusal() -> None:
    """Each takes the lock once the one before has allocated."""
    names = [f"p{n}" for n in range(40)]
    bench = Bench(FakePods([replace(POD, name=name, uid=f"uid-{name}") for name in names]), config=patient())  # type: ignore[arg-type]  # a PodUid
    binds = [Bound(bench, name) for name in names]
    for done in range(1, 41):
        wait_until(lambda done=done: len(bench.writer.bound) == done)  # type: ignore[misc]  # mypy cannot type the default
        unlock(bench)
    assert [bound.error() for bound in binds] == [""] * 40
    refused = [call for call in bench.locks.calls if call[0] == "acquire"]
    assert len(refused) <= 2 * 40


def test_a_pod_deleted_while_its_bind_waits_is_not_bound() -> None:
    """K06, F17: what was reserved goes; no lock is taken for a pod that is gone."""
    bench = Bench(config=patient())
    hold(bench)
    bound = Bound(bench)
    wait_until(lambda: len(bench.locks.calls) == 1)
    bench.pods.seen.clear()
    unlock(bench)
    assert bound.error() == 'pod "p" not found'
    assert bench.locks.held == {}
    assert bench.writer.bound == []


MEMBER = replace(POD, pod_group="gang")


def test_b_6_a_pod_group_s_member_polls_until_its_own_time_is_out() -> None:
    bench = Bench(
        FakePods([MEMBER]), config=SchedulerConfig(bind_wait_seconds=0, node_lock_retry_seconds=0.25)
    )
    hold(bench)
    assert bench.bind() == ("timed out after 250ms waiting for node n1 to be unlocked: node lock contention")
    assert len(bench.locks.calls) >= 2


def test_b_6_a_member_needs_no_watch_to_find_the_lock_free() -> None:
    bench = Bench(FakePods([MEMBER]), config=SchedulerConfig(bind_wait_seconds=0, node_lock_retry_seconds=30))
    hold(bench)
    bound = Bound(bench)
    wait_until(lambda: len(bench.locks.calls) >= 1)
    bench.locks.held.clear()
    assert bound.error() == ""


def test_b_6_without_a_retry_time_a_member_is_as_any_pod() -> None:
    bench = Bench(FakePods([MEMBER]), config=SchedulerConfig(bind_wait_seconds=0, node_lock_retry_seconds=0))
    hold(bench)
    assert bench.bind() == LOCKED


def test_b_6_other_errors_end_a_member_s_wait_at_once() -> None:
    bench = Bench(FakePods([MEMBER]), config=patient())
    bench.locks.fails["acquire", "a.io/lock"] = HamiError("malformed lock annotation")
    assert bench.bind() == "malformed lock annotation"
    assert len(bench.locks.calls) == 1


@pytest.mark.parametrize(
    ("pod", "text"),
    [
        (POD, LOCKED),
        (MEMBER, "scheduler shutting down while waiting for node lock: node lock contention"),
    ],
)
def test_the_end_of_the_process_ends_waiting_binds(pod: Pod, text: str) -> None:
    """B-6."""
    bench = Bench(FakePods([pod]), config=patient(node_lock_retry_seconds=30))
    hold(bench)
    bound = Bound(bench)
    wait_until(lambda: len(bench.locks.calls) >= 1)
    bench.turns.stop()
    assert bound.error() == text


def test_a_bind_is_one_log_line(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="scheduler_app.engine.binding"):
        bench.bind()
    assert [record.getMessage() for record in caplog.records] == ["bound pod=default/p node=n1 error=-"]


def test_an_unexpected_failure_gives_the_locks_back(bench: Bench) -> None:
    """Whatever is raised on the way, no lock outlives the bind that took it."""
    bench.writer.fails["bind"] = RuntimeError("a bug")  # type: ignore[assignment]  # not a HamiError
    with pytest.raises(RuntimeError):
        bench.bind()
    assert bench.locks.held == {}
