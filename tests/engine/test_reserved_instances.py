"""Instances of a card that was just cut, before the watch has told of them (Q-4)."""

from scheduler_app.core.types import Container, Node
from simcluster import fleet
from tests.devices.machines import SHIPPED, Machine
from tests.engine.world import World, pod_of
from tests.factories import make_container

NVIDIA = fleet.vendor("nvidia")
MIG = Machine(NVIDIA, NVIDIA.model("a100-mig"))


def one_card() -> Node:
    return MIG.node(1)


def seventh() -> Container:
    return make_container(limits={"nvidia.com/gpu": 1, "nvidia.com/gpumem": 9000})


def test_the_next_pod_gets_the_next_instance_though_no_watch_has_told_of_the_first() -> None:
    """Q-4: the reference calls the card sick until then; here it serves until it is full."""
    world = World(one_card(), backends=SHIPPED.backends)
    found = [world.filter(pod_of(seventh(), name=f"p{n}")).refused for n in range(8)]
    assert found == [{}] * 7 + [{"n1": "1/1 CardTimeSlicingExhausted"}]
    (card,) = world.state.everything()[MIG.node(1).name].cards
    assert sorted(one.placement.start for one in card.slices) == list(range(7))
