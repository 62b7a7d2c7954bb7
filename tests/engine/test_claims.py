"""While a pod is bound its decision stands: neither `/filter` nor kube-scheduler moves it (L13)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import Condition, NodeName, Pod, VendorKey
from tests.devices.nvidia import cards as nvidia
from tests.engine.world import ASSIGNED, World, holding, pod_of, registered
from tests.factories import make_container

N1, N2 = NodeName("n1"), NodeName("n2")
GAVE_UP = Condition("False", "SchedulerError", "the bind timed out")


@pytest.fixture
def world() -> World:
    return World(registered("n1", "a"), registered("n2", "c"))


def placed(world: World) -> Pod:
    """Let `/filter` place a pod and the watch show it; forget what was written and told."""
    pod = pod_of()
    world.filter(pod, ["n1"])
    written = world.as_written(pod)
    world.state.see_pod(written)
    world.writer.patches.clear()
    return written


def claim(world: World, pod: Pod, node: NodeName = N1) -> bool:
    return world.state.claim_pod(pod.uid, node=node, since=world.state.pod(pod.uid))


def bound(world: World) -> Pod:
    pod = placed(world)
    assert claim(world, pod)
    world.state.settle_pod(pod.uid, is_bound=True)
    return pod


def refusal(world: World, pod: Pod) -> str:
    """Ask to move a pod to n2: nothing is written and what it holds stays. Return the error."""
    decision = world.filter(pod, ["n2"])
    assert decision.kind == "error"
    assert world.used() == [(1, 100, 10)]
    assert world.writer.patches == []
    return decision.error


def test_l13_a_pod_that_is_being_bound_is_not_placed_again(world: World) -> None:
    pod = placed(world)
    assert claim(world, pod)
    assert refusal(world, pod) == 'pod is being bound to node "n1"'


def test_l13_a_pod_that_was_bound_a_moment_ago_is_not_placed_again(world: World) -> None:
    """The watch does not show it yet; kube-scheduler's cannot either."""
    pod = bound(world)
    world.writer.fresh["p"] = replace(pod, node_name="n1")
    assert refusal(world, pod) == 'pod is bound to node "n1"'


def test_a_pod_that_cannot_be_read_then_is_not_moved(world: World) -> None:
    pod = bound(world)
    world.writer.fails["get_pod"] = HamiError("busy")
    assert world.filter(pod, ["n2"]).error == 'pod may be bound to node "n1": busy'
    assert world.used() == [(1, 100, 10)]


def test_the_api_server_has_the_last_word_on_what_is_bound(world: World) -> None:
    pod = bound(world)
    assert world.filter(pod, ["n2"]).kind == "placed"
    assert world.state.bound_to(pod.uid) is None


def test_a_filter_call_for_any_other_pod_asks_nobody(world: World) -> None:
    bound(world)
    world.filter(pod_of(name="q"))
    assert world.writer.reads == []


def test_an_amount_that_cannot_be_counted_does_not_end_a_bind_either() -> None:
    """W16: the pod in the request is not the one that was decided on, but it has its uid."""
    backends: Mapping[VendorKey, DeviceBackend] = {nvidia.NVIDIA.vendor_key: nvidia.NVIDIA}
    world = World(backends=backends)
    pod = pod_of(make_container("c", limits={nvidia.GPU: 1, nvidia.MEM: 2**31}))
    assert world.state.claim_pod(pod.uid, node=N1, since=None)
    assert world.filter(replace(pod, annotations={ASSIGNED: "n1"})).error == 'pod is being bound to node "n1"'
    assert world.writer.patches == []


def test_f16_what_kube_scheduler_gives_up_during_its_bind_is_free_when_that_fails(world: World) -> None:
    pod = placed(world)
    assert claim(world, pod)
    world.state.see_pod(replace(pod, scheduled=GAVE_UP))
    assert world.used() == [(1, 100, 10)]
    world.state.settle_pod(pod.uid, is_bound=False)
    assert world.is_idle()


def test_f16_a_bind_that_works_all_the_same_keeps_the_cards(world: World) -> None:
    """The caller's time ran out, ours did not: the pod runs there, so it counts there."""
    pod = placed(world)
    assert claim(world, pod)
    world.state.see_pod(replace(pod, scheduled=GAVE_UP))
    world.state.settle_pod(pod.uid, is_bound=True)
    world.state.see_pod(replace(pod, node_name="n1"))
    assert world.used() == [(1, 100, 10)]


def test_q_19_a_failed_bind_by_itself_frees_nothing(world: World) -> None:
    pod = placed(world)
    assert claim(world, pod)
    world.state.settle_pod(pod.uid, is_bound=False)
    assert world.used() == [(1, 100, 10)]
    assert world.filter(pod, ["n2"]).kind == "placed"


@pytest.mark.parametrize("how", ["shown", "gone"])
def test_the_watch_ends_what_is_remembered_of_a_bind(world: World, how: str) -> None:
    pod = bound(world)
    assert world.state.bound_to(pod.uid) == "n1"
    if how == "shown":
        world.state.see_pod(replace(pod, node_name="n1"))
    else:
        world.state.lose_pod(pod.uid)
    assert world.state.bound_to(pod.uid) is None


def test_a_watch_that_is_faster_than_the_binding_s_answer_leaves_nothing_behind(world: World) -> None:
    pod = placed(world)
    assert claim(world, pod)
    world.state.see_pod(replace(pod, node_name="n1"))
    world.state.settle_pod(pod.uid, is_bound=True)
    assert world.state.bound_to(pod.uid) is None


def test_a_decision_that_has_changed_cannot_be_claimed(world: World) -> None:
    pod = placed(world)
    since = world.state.pod(pod.uid)
    world.filter(pod, ["n2"])
    assert not world.state.claim_pod(pod.uid, node=N1, since=since)
    assert world.state.claim_pod(pod.uid, node=N2, since=since)


def test_a_decision_that_is_not_written_yet_cannot_be_claimed(world: World) -> None:
    """Its PATCH may fail, and what was bound would count nowhere."""
    claimed: list[bool] = []
    pod = pod_of()
    world.writer.before = lambda call: claimed.append(claim(world, pod))
    world.filter(pod, ["n1"])
    assert claimed == [False]
    assert claim(world, pod)


def test_a_pod_that_never_had_a_decision_can_be_claimed_until_it_gets_one(world: World) -> None:
    """As the reference binds it: pods without cards come here too."""
    assert world.state.claim_pod(pod_of().uid, node=N1, since=None)
    world.state.settle_pod(pod_of().uid, is_bound=False)
    world.state.see_pod(holding(pod_of(), "n2", "c,Plain,100,10:;"))
    assert not world.state.claim_pod(pod_of().uid, node=N1, since=None)
