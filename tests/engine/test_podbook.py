"""What a pod counts for, as the watch and decisions tell it (M-7 to M-15)."""

from dataclasses import replace

import pytest

from scheduler_app.core.errors import CodecError, HamiError
from scheduler_app.core.types import Condition, Container, PodUid
from tests.engine.world import ASSIGNED, World, asking, holding, pod_of, registered

ON_A = "a,Plain,100,10:;"
ON_B = "b,Plain,300,30:;"
FREE, A_USED, B_USED = (0, 0, 0), (1, 100, 10), (1, 300, 30)
GAVE_UP = Condition("False", "SchedulerError", "the permit was denied")


@pytest.fixture
def world() -> World:
    return World(registered("n1", "a", "b"), registered("n2", "c"))


def test_a_pod_without_an_assigned_node_counts_nothing(world: World) -> None:
    """M-9."""
    world.state.see_pod(pod_of())
    assert world.is_idle()


def test_what_a_pod_is_annotated_with_counts(world: World) -> None:
    world.state.see_pod(holding(pod_of(), "n1", ON_A))
    assert world.used() == [A_USED, FREE]
    assert world.quota_used() == 100


def test_seeing_a_pod_again_changes_nothing(world: World) -> None:
    """M-33: a resync delivers old states again."""
    for _ in range(3):
        world.state.see_pod(holding(pod_of(), "n1", ON_A))
    assert world.used() == [A_USED, FREE]
    assert world.quota_used() == 100


def test_changed_annotations_move_the_pod(world: World) -> None:
    """Q-20, Q-46: accounting follows the annotations exactly, quota too."""
    world.state.see_pod(holding(pod_of(), "n1", ON_A))
    world.state.see_pod(holding(pod_of(), "n2", "c,Plain,500,50:;"))
    assert world.used() == [FREE, FREE]
    assert world.used("n2") == [(1, 500, 50)]
    assert world.quota_used() == 500


def test_annotations_that_are_removed_free_the_card(world: World) -> None:
    world.state.see_pod(holding(pod_of(), "n1", ON_A))
    world.state.see_pod(pod_of())
    assert world.is_idle()


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_q09_e09_a_finished_pod_gives_everything_back_and_leaves(world: World, phase: str) -> None:
    """M-10."""
    world.state.see_pod(holding(pod_of(), "n1", ON_A))
    world.state.see_pod(holding(pod_of(phase=phase), "n1", ON_A))
    assert world.is_idle()


def test_f40_a_terminating_pod_counts_until_it_is_gone(world: World) -> None:
    """Q-21: also when it is first seen terminating, after a restart."""
    world.state.see_pod(holding(pod_of(is_terminating=True), "n1", ON_A))
    assert world.used() == [A_USED, FREE]
    world.state.lose_pod(pod_of().uid)
    assert world.is_idle()


def test_f10_a_pod_of_the_same_name_with_a_new_uid_is_another_pod(world: World) -> None:
    world.state.see_pod(holding(pod_of(uid="u1"), "n1", ON_A))
    world.state.see_pod(holding(pod_of(uid="u2"), "n1", ON_B))
    world.state.lose_pod(PodUid("u1"))
    assert world.used() == [FREE, B_USED]


def test_losing_an_unknown_pod_is_harmless(world: World) -> None:
    """Q10: nothing is subtracted that was never added."""
    world.state.lose_pod(PodUid("nobody"))
    assert world.is_idle()


@pytest.mark.parametrize("text", ["a,Plain,100:;", "a,Plain,x,10:;", "a,Plain,99999999999,1:;"])
def test_f13_text_that_cannot_be_read_counts_as_before(world: World, text: str) -> None:
    """P-9, M-9."""
    world.state.see_pod(holding(pod_of(), "n1", ON_A))
    with pytest.raises(CodecError):
        world.state.see_pod(holding(pod_of(), "n1", text))
    assert world.used() == [A_USED, FREE]


def test_f04_init_and_app_containers_count_with_the_larger_of_both_and_shrink_later(world: World) -> None:
    """M-12: peak of the init containers against the sum of the apps; M-13 once they have succeeded."""
    pod = pod_of(asking(), init_containers=(asking(name="init"),))
    held = holding(pod, "n1", "a,Plain,900,90:;a,Plain,600,60:;")
    world.state.see_pod(held)
    assert world.used()[0] == (1, 900, 90)
    world.state.see_pod(replace(held, init_succeeded=True))
    assert world.used()[0] == (1, 600, 60)
    assert world.quota_used() == 600


def test_after_a_restart_a_pod_whose_init_containers_ended_counts_what_runs(world: World) -> None:
    """Q-22."""
    pod = pod_of(asking(), init_containers=(asking(name="init"),), init_succeeded=True)
    world.state.see_pod(holding(pod, "n1", "a,Plain,900,90:;a,Plain,600,60:;"))
    assert world.used()[0] == (1, 600, 60)


def test_f05_a_sidecar_counts_with_the_app_containers(world: World) -> None:
    """Q-23: sidecar 400, init 500, app 600 is 1000 at the start and after the init container."""
    sidecar = Container("side", restarts_always=True)
    pod = pod_of(asking(), init_containers=(sidecar, Container("init")))
    held = holding(pod, "n1", "a,Plain,400,40:;a,Plain,500,50:;a,Plain,600,60:;")
    world.state.see_pod(held)
    assert world.used()[0] == (2, 1000, 100)
    world.state.see_pod(replace(held, init_succeeded=True))
    assert world.used()[0] == (2, 1000, 100)


def test_n14_pods_of_a_node_that_left_count_again_when_it_is_back(world: World) -> None:
    """Q-47: they stay counted, and their quota charged, until they go themselves."""
    world.state.see_pod(holding(pod_of(), "n1", ON_A))
    world.state.drop_node(world.names[0])
    assert world.quota_used() == 100
    world.register(registered("n1", "a", "b"))
    assert world.used() == [A_USED, FREE]


def test_a_pod_seen_before_its_node_counts_once_the_node_registers(world: World) -> None:
    """A restart may deliver pods first."""
    world.state.see_pod(holding(pod_of(), "n9", "z,Plain,100,10:;"))
    world.register(registered("n9", "z"))
    assert world.used("n9") == [A_USED]


def test_f08_segments_are_those_of_init_containers_first(world: World) -> None:
    """P-8: an init container without cards leaves the leading separator; the card is the app container's."""
    held = holding(pod_of(asking(), init_containers=(Container("init"),)), "n1", ";a,Plain,600,30:;")
    for is_past_init in (False, True):
        world.state.see_pod(replace(held, init_succeeded=is_past_init))
        assert world.used() == [(1, 600, 30), FREE]


def test_f11_a_card_that_is_not_registered_counts_nowhere_and_is_not_lost(world: World) -> None:
    """M-20."""
    world.state.see_pod(holding(pod_of(), "n1", "gone,Plain,100,10:;"))
    assert world.used() == [FREE, FREE]
    world.register(registered("n1", "gone", "a", "b"))
    assert world.used() == [A_USED, FREE, FREE]


def test_an_echo_of_the_state_before_the_decision_does_not_undo_it(world: World) -> None:
    """F15: events that were on their way when we decided."""
    decision = world.filter(pod_of())
    world.state.see_pod(pod_of(phase="Pending"))
    assert decision.chosen is not None
    assert sum(shares for shares, _, _ in world.used()) == 1


def test_q_39_what_a_failed_call_freed_does_not_come_back(world: World) -> None:
    """Q-39: the pod's next watch event still carries the old annotations."""
    before = holding(pod_of(asking(mem_mib=5000)), "n1", ON_A)
    world.state.see_pod(before)
    assert world.filter(before).kind == "refused"
    world.state.see_pod(replace(before, scheduled=GAVE_UP))
    assert world.is_idle()


def test_q_39_a_bound_pod_counts_whatever_we_gave_up(world: World) -> None:
    before = holding(pod_of(asking(mem_mib=5000)), "n1", ON_A)
    world.state.see_pod(before)
    world.filter(before)
    world.state.see_pod(replace(before, node_name="n1"))
    assert world.used() == [A_USED, FREE]


def test_q_39_holds_when_the_request_does_not_show_our_annotations_yet(world: World) -> None:
    """kube-scheduler's copy of the pod can be older than our own last decision about it."""
    pod = pod_of()
    world.filter(pod)
    written = world.as_written(pod)
    too_big = replace(pod, annotations={"plain.io/use-uuid": "nowhere"})
    assert world.filter(too_big).kind == "refused"
    world.state.see_pod(written)
    assert world.is_idle()


def test_q_39_clears_what_an_older_copy_of_the_pod_does_not_show(world: World) -> None:
    pod = pod_of()
    world.filter(pod)
    world.filter(replace(pod, annotations={"plain.io/use-uuid": "nowhere"}))
    assert ASSIGNED not in world.as_written(pod).annotations


def test_an_echo_of_an_earlier_decision_of_ours_does_not_replace_the_later_one(world: World) -> None:
    """Two decisions within one watch delay: the first one's annotations arrive after the second was made."""
    pod = pod_of()
    world.filter(pod, ["n1"])
    first = world.as_written(pod)
    world.filter(pod, ["n2"])
    world.state.see_pod(first)
    assert world.used() == [FREE, FREE]
    assert world.used("n2") == [A_USED]


def test_q_39_holds_when_the_new_decision_could_not_be_written(world: World) -> None:
    """F-41: the old decision was freed, and the pod still carries its annotations."""
    before = holding(pod_of(), "n1", ON_A)
    world.state.see_pod(before)
    world.writer.fails["patch_pod"] = HamiError("refused")
    assert world.filter(before, ["n2"]).kind == "error"
    world.state.see_pod(replace(before, scheduled=GAVE_UP))
    assert world.is_idle()


def test_f16_a_reservation_ends_when_kube_scheduler_gives_the_pod_up(world: World) -> None:
    pod = pod_of()
    world.filter(pod)
    world.state.see_pod(world.as_written(pod))
    world.state.see_pod(replace(world.as_written(pod), scheduled=GAVE_UP))
    assert world.is_idle()


def test_f16_holds_for_a_decision_that_another_replica_made(world: World) -> None:
    """After a fail-over or a restart the new leader knows the decision by its annotations only."""
    held = holding(pod_of(), "n1", ON_A)
    world.state.see_pod(held)
    world.state.see_pod(replace(held, scheduled=GAVE_UP))
    assert world.is_idle()


def test_f16_the_refusals_before_our_decision_do_not_end_it(world: World) -> None:
    pod = pod_of(scheduled=GAVE_UP)
    world.filter(pod)
    world.state.see_pod(world.as_written(pod))
    assert sum(shares for shares, _, _ in world.used()) == 1


def test_f16_a_given_up_pod_counts_again_once_it_is_placed(world: World) -> None:
    pod = pod_of()
    world.filter(pod)
    given_up = replace(world.as_written(pod), scheduled=GAVE_UP)
    world.state.see_pod(given_up)
    world.filter(given_up)
    world.state.see_pod(world.as_written(given_up))
    assert sum(shares for shares, _, _ in world.used()) == 1


def test_f16_a_bound_pod_never_ends_that_way(world: World) -> None:
    pod = pod_of()
    world.filter(pod)
    world.state.see_pod(replace(world.as_written(pod), scheduled=GAVE_UP, node_name="n1"))
    assert sum(shares for shares, _, _ in world.used()) == 1
