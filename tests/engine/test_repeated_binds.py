"""A bind that comes again, whatever the order of two calls for a pod; binds of others' decisions."""

import threading
from dataclasses import replace

import pytest

from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import Condition, Container, NodeName, Pod, PodUid
from tests.engine.bindbench import LOCKED, N1, POD, Bench, Bound, hold, patient, place, unlock, waiting
from tests.engine.world import ASSIGNED, pod_of
from tests.fakes.cluster import FakePods
from tests.waiting import wait_until

LOCK = (N1, "a.io/lock")
MOVED = 'pod "p" is being placed anew: this decision does not stand any more'


def on(node: str, pod: Pod = POD) -> Pod:
    return replace(pod, node_name=node)


def annotated(node: str) -> Pod:
    return replace(POD, annotations={ASSIGNED: node})


def is_untouched(bench: Bench) -> bool:
    """Say whether nothing was written and no lock looked at."""
    return not (bench.writer.patches or bench.writer.bound or bench.locks.calls)


def test_a_pod_on_the_node_already_is_bound_and_nothing_is_written() -> None:
    """Its phase may say `success` by now, and its lock is given back: both stay as they are."""
    bench = Bench(FakePods([on("n1")]))
    place(bench)
    assert bench.bind() == ""
    assert is_untouched(bench)
    assert bench.events.told == []


def test_a_bound_pod_without_cards_is_not_marked_again_either() -> None:
    bench = Bench(FakePods([on("n1", pod_of(Container("web")))]))
    bench.writer.fresh["p"] = pod_of(Container("web"))
    assert bench.bind() == ""
    assert is_untouched(bench)


def test_a_pod_on_another_node_is_refused_with_the_name_of_that() -> None:
    bench = Bench(FakePods([on("n2")]))
    place(bench)
    text = 'pod "p" is already bound to node "n2"'
    assert bench.bind() == text
    assert is_untouched(bench)
    assert bench.events.told == [("Warning", "BindingFailed", text)]


@pytest.mark.parametrize(("node", "answer"), [("n1", ""), ("n2", 'pod "p" is already bound to node "n1"')])
def test_a_repeat_that_is_faster_than_the_watch_asks_the_api_server(node: str, answer: str) -> None:
    """The first call bound the pod when its caller had gone; our own copy does not show it yet."""
    bench = Bench()
    place(bench)
    assert bench.bind() == ""
    bench.writer.fresh["p"] = on("n1")
    before = list(bench.locks.calls)
    assert bench.bind(node=node) == answer
    assert (len(bench.writer.patches), len(bench.writer.bound)) == (1, 1)
    assert bench.locks.calls == before


def test_a_repeat_waits_for_the_call_before_it_and_finds_the_pod_bound() -> None:
    bench, first = waiting()
    again = Bound(bench)
    wait_until(lambda: bench.binder.repeats_waiting == 1)
    bench.writer.fresh["p"] = on("n1")
    unlock(bench)
    assert [first.error(), again.error()] == ["", ""]
    assert (len(bench.writer.patches), len(bench.writer.bound)) == (1, 1)
    assert bench.locks.held == {LOCK: "default/p"}


def test_a_repeat_binds_when_the_call_before_it_has_failed() -> None:
    """What the first call took it gave back, so the second starts from nothing."""
    bench = Bench(config=patient())
    place(bench)
    started, goes_on = threading.Event(), threading.Event()
    bench.writer.fails["bind"] = HamiError("no")

    def stop_first(call: str) -> None:
        if call == "bind" and not started.is_set():
            started.set()
            goes_on.wait(10)
        elif call == "bind":
            bench.writer.fails.clear()

    bench.writer.before = stop_first
    first = Bound(bench)
    assert started.wait(10)
    again = Bound(bench)
    wait_until(lambda: bench.binder.repeats_waiting == 1)
    goes_on.set()
    assert [first.error(), again.error()] == ["no", ""]
    assert [call[0] for call in bench.locks.calls] == ["acquire", "release", "acquire"]
    assert bench.locks.held == {LOCK: "default/p"}


def test_a_repeat_whose_patience_ends_before_the_first_call_is_refused_and_touches_nothing() -> None:
    bench = Bench(config=patient(0.05, node_lock_retry_seconds=0))
    place(bench)
    started, goes_on = threading.Event(), threading.Event()

    def stop(call: str) -> None:
        started.set()
        goes_on.wait(10)

    bench.writer.before = stop
    first = Bound(bench)
    assert started.wait(10)
    assert bench.bind() == 'an earlier bind of pod "p" has not ended yet'
    goes_on.set()
    assert first.error() == ""
    assert len(bench.locks.calls) == 1


def test_l13_a_bind_to_another_node_ends_the_one_that_still_waits() -> None:
    """The caller gave up, asked `/filter` again, and the pod goes elsewhere now."""
    bench, first = waiting()
    bench.state.take_pod(POD.uid)
    place(bench, "n2")
    assert Bound(bench, node="n2").error() == ""
    assert first.error() == MOVED
    assert bench.writer.bound == [("default/p", "uid-p", "n2")]
    assert bench.locks.held == {LOCK: "default/other", (NodeName("n2"), "a.io/lock"): "default/p"}


def test_l13_a_bind_that_waits_ends_when_the_pod_has_been_placed_elsewhere() -> None:
    bench, first = waiting()
    bench.state.take_pod(POD.uid)
    place(bench, "n2")
    unlock(bench)
    assert first.error() == MOVED
    assert bench.writer.bound == []
    assert bench.locks.held == {}


def test_f16_a_bind_that_waits_ends_when_kube_scheduler_gave_the_pod_up() -> None:
    """Its cards are free and may be somebody else's by now."""
    bench, first = waiting()
    bench.state.see_pod(replace(annotated("n1"), scheduled=Condition("False", "SchedulerError", "timed out")))
    unlock(bench)
    assert first.error() == MOVED
    assert bench.writer.bound == []


def test_a_bind_in_the_middle_of_a_new_decision_is_refused_and_takes_no_lock() -> None:
    """Between the reservation and its PATCH nobody knows which annotations the pod will have."""
    bench = Bench()
    bench.state.begin_decision(POD.uid)
    bench.state.assume(annotated("n1"), before=POD, node=N1, devices={})
    assert bench.bind() == MOVED
    assert bench.locks.held == {}
    assert bench.writer.patches == []


def test_i19_a_binding_whose_answer_was_lost_counts_if_the_pod_says_so() -> None:
    """Giving the lock back would let another pod allocate on the node at the same time (L02)."""
    bench = Bench()
    place(bench)
    bench.writer.fails["bind"] = HamiError("the connection broke")
    bench.writer.fresh["p"] = on("n1")
    assert bench.bind() == ""
    assert bench.locks.held == {LOCK: "default/p"}


@pytest.mark.parametrize("fresh", [POD, None, on("n2"), replace(on("n1"), uid=PodUid("another"))])
def test_a_binding_that_failed_is_an_error_whatever_else_is_there(fresh: Pod | None) -> None:
    bench = Bench()
    place(bench)
    bench.writer.fails["bind"] = HamiError("no")
    bench.writer.fresh["p"] = fresh
    assert bench.bind() == "no"
    assert bench.locks.held == {}


def test_our_own_decision_is_bound_without_another_look() -> None:
    bench = Bench()
    place(bench)
    bench.bind()
    assert bench.writer.reads == []


def test_a_decision_of_another_replica_is_read_afresh_before_anything_is_written() -> None:
    """Our copy may be older than the leader's decision, which went to n2."""
    bench = Bench(FakePods([annotated("n1")]))
    bench.state.see_pod(annotated("n1"))
    bench.writer.fresh["p"] = annotated("n2")
    assert bench.bind() == 'pod "p" is placed on node "n2"'
    assert is_untouched(bench)
    assert bench.bind(node="n2") == ""
    assert bench.writer.bound == [("default/p", "uid-p", "n2")]


def test_a_decision_of_ours_that_another_replica_replaced_is_read_afresh() -> None:
    bench = Bench()
    place(bench)
    bench.state.see_pod(annotated("n2"))
    bench.writer.fresh["p"] = annotated("n2")
    assert bench.bind(node="n2") == ""
    assert bench.writer.reads == ["p"]


@pytest.mark.parametrize("fresh", [None, replace(POD, uid=PodUid("another"))])
def test_a_pod_that_turns_out_to_be_gone_gives_its_reservation_back(fresh: Pod | None) -> None:
    """B-1: also when a namesake has taken its place."""
    bench = Bench(FakePods([annotated("n1")]))
    bench.state.see_pod(annotated("n1"))
    bench.writer.fresh["p"] = fresh
    assert bench.bind() == 'pod "p" not found'
    assert bench.state.pods() == ()
    assert is_untouched(bench)


def test_a_pod_that_cannot_be_read_is_not_bound_on_a_guess() -> None:
    bench = Bench(FakePods([annotated("n1")]))
    bench.writer.fails["get_pod"] = HamiError("the API server is busy")
    assert bench.bind() == "the API server is busy"
    assert is_untouched(bench)
    assert bench.events.told == [("Warning", "BindingFailed", "the API server is busy")]


def test_our_own_decision_for_another_node_is_refused_by_name() -> None:
    """A call that was long on its way: the pod's cards are on n2 (L13)."""
    bench = Bench()
    place(bench, "n2")
    assert bench.bind() == 'pod "p" is placed on node "n2"'
    assert is_untouched(bench)


def test_a_pod_bound_while_its_bind_waits_is_left_alone() -> None:
    """By another replica: the one with the turn here finds it done."""
    bench, bound = waiting()
    bench.pods.seen["default/p"] = on("n1")
    unlock(bench)
    assert bound.error() == ""
    assert bench.writer.patches == []
    assert bench.locks.held == {}


def test_a_pod_without_an_answer_from_its_node_is_still_contention() -> None:
    """What does not concern repeats stays as it was (B-11)."""
    bench = Bench()
    place(bench)
    hold(bench)
    assert bench.bind() == LOCKED
