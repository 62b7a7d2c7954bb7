"""Two calls about one pod, or a pod that goes meanwhile: nothing is counted twice or for ever."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import Pod, PodUid
from tests.engine.world import ASSIGNED, World, asking, holding, pod_of, registered

TOO_BIG = asking(mem_mib=10**6)
BUSY = "an earlier decision for this pod is still being written"


@pytest.fixture
def world() -> World:
    return World(registered("n1", "a"), registered("n2", "c"))


class Held:
    """A filter call whose PATCH takes until it is let go; ``error`` is what it then ends with."""

    def __init__(self, world: World, pod: Pod) -> None:
        self._arrived, self._goes_on = threading.Event(), threading.Event()
        self.decisions: list[Any] = []
        world.writer.before = self._hold
        self._thread = threading.Thread(target=lambda: self.decisions.append(world.filter(pod, ["n1"])))
        self._thread.start()
        assert self._arrived.wait(10)

    def let_go(self) -> Any:
        self._goes_on.set()
        self._thread.join(10)
        return self.decisions[0]

    def _hold(self, call: str) -> None:
        if threading.current_thread() is self._thread:
            self._arrived.set()
            self._goes_on.wait(10)


def test_a_pod_is_decided_about_once_at_a_time(world: World) -> None:
    """The caller's time ran out in the PATCH and it asks again: two PATCHes could land in any order."""
    held = Held(world, pod_of())
    again = world.filter(pod_of(), ["n2"])
    assert (again.kind, again.error) == ("error", BUSY)
    assert held.let_go().kind == "placed"
    assert [patch.annotations[ASSIGNED] for patch in world.writer.patches] == ["n1"]
    assert (world.used("n1"), world.used("n2")) == ([(1, 100, 10)], [(0, 0, 0)])


def test_a_slow_patch_that_fails_does_not_undo_a_later_decision(world: World) -> None:
    """F-41: each failure undoes its own reservation."""
    held = Held(world, pod_of())
    world.writer.fails["patch_pod"] = HamiError("timed out")
    assert held.let_go().error == "timed out"
    world.writer.fails.clear()
    assert world.filter(pod_of(), ["n2"]).kind == "placed"
    assert world.used("n2") == [(1, 100, 10)]


def test_q_39_clearing_an_old_decision_ends_before_a_new_one_begins(world: World) -> None:
    """Else it could take the new one's annotations away."""
    held = Held(world, holding(pod_of(TOO_BIG), "n1", "a,Plain,100,10:;"))
    assert world.filter(pod_of()).error == BUSY
    assert held.let_go().kind == "refused"
    assert world.filter(pod_of()).kind == "placed"


def test_other_pods_are_decided_about_meanwhile(world: World) -> None:
    held = Held(world, pod_of())
    assert world.filter(pod_of(name="q")).kind == "placed"
    held.let_go()


@pytest.mark.parametrize("goes", ["before", "during"])
def test_k06_a_pod_that_went_leaves_nothing_though_its_namesake_took_the_patch(
    world: World, goes: str
) -> None:
    """A StatefulSet makes the next one under the same name at once; no event will ever end the first."""
    if goes == "before":
        world.state.lose_pod(pod_of().uid)
    else:
        world.writer.before = lambda call: world.state.lose_pod(pod_of().uid)
    assert world.filter(pod_of()).kind == "placed"
    assert world.is_idle()


def test_a_pod_that_comes_back_into_view_counts(world: World) -> None:
    world.state.lose_pod(pod_of().uid)
    world.state.see_pod(pod_of())
    world.filter(pod_of(), ["n1"])
    assert world.used() == [(1, 100, 10)]


def test_f17_a_bind_that_came_before_the_watch_does_not_end_later_decisions(world: World) -> None:
    """B-1: what is not in our view may only be on its way."""
    world.state.miss_pod(pod_of().uid)
    world.filter(pod_of(), ["n1"])
    assert world.used() == [(1, 100, 10)]


def test_a_defect_while_deciding_leaves_nothing_counted_and_nothing_locked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = holding(pod_of(), "n1", "a,Plain,100,10:;")
    world.state.see_pod(before)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(world.scheduler, "_ask", broken)
        with pytest.raises(ZeroDivisionError):
            world.filter(before)
    world.state.see_pod(before)
    assert world.is_idle(), "what the call freed came back with the pod's next event (Q-39)"
    assert world.filter(before).kind == "placed"


def test_a_defect_while_writing_lets_the_next_call_in(world: World) -> None:
    world.writer.fails["patch_pod"] = RuntimeError("a bug")  # type: ignore[assignment]  # not a HamiError
    with pytest.raises(RuntimeError):
        world.filter(pod_of())
    world.writer.fails.clear()
    assert world.filter(pod_of()).kind == "placed"


def test_pods_that_went_are_remembered_for_a_while_only(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scheduler_app.engine.cache.LOST_KEPT", 2)
    for name in "abc":
        world.state.lose_pod(PodUid(f"uid-{name}"))
    for name in "abc":
        world.filter(replace(pod_of(name=name), uid=PodUid(f"uid-{name}")), ["n1"])
    assert [entry.pod.name for entry in world.state.pods()] == ["a"]
