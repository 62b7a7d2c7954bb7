"""A filter call with whole nodes: what would be chosen, and no trace of it (F-43 to F-45)."""

from collections.abc import Mapping

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import ResourceQuota, VendorKey
from tests.devices.nvidia import cards as nvidia
from tests.engine.world import (
    World,
    asking,
    holding,
    pod_of,
    registered,
)
from tests.factories import make_container, make_node

WEIGHTS = "hami.io/device-scoring-weights"


@pytest.fixture
def world() -> World:
    return World(registered("n1", "a"), registered("n2", "b"))


def test_k14_k05_a_simulation_finds_the_best_of_the_given_nodes_and_touches_nothing(world: World) -> None:
    """F-43, F-44: no usage, no write, no event, no history; the pod keeps what it has."""
    before = holding(pod_of(asking(mem_mib=1000)), "n1", "a,Plain,1000,10:;")
    world.state.see_pod(before)
    template = registered("template", "t")
    decision = world.scheduler.filter(before, names=None, nodes=[template, make_node("bare")])
    assert decision.kind == "simulated"
    assert decision.chosen is not None
    assert decision.chosen.node == "template"
    assert decision.refused == {"bare": "node unregistered"}
    assert world.used() == [(1, 1000, 10)]
    assert world.is_untold()


def test_a_simulation_counts_no_pods_and_reads_live_quota(world: World) -> None:
    """F-44, Q-8: idle nodes, but the vendor's quota check stays."""
    backends: Mapping[VendorKey, DeviceBackend] = {nvidia.NVIDIA.vendor_key: nvidia.NVIDIA}
    world = World(backends=backends)
    world.state.see_quota(ResourceQuota("default", "q", {f"limits.{nvidia.MEM}": "50"}))
    register = '[{"id":"g","count":10,"devmem":1000,"devcore":100,"type":"NVIDIA-X","health":true}]'
    node = make_node("t", annotations={"hami.io/node-nvidia-register": register})
    pod = pod_of(make_container("c", limits={nvidia.GPU: 1, nvidia.MEM: 100}))
    decision = world.scheduler.filter(pod, names=None, nodes=[node])
    assert decision.refused == {"t": "1/1 ResourceQuotaNotFit"}


def test_a_simulation_with_wrong_weights_is_an_error_without_an_event(world: World) -> None:
    """F-45."""
    decision = world.scheduler.filter(
        pod_of(annotations={WEIGHTS: ""}), names=None, nodes=[registered("t", "t")]
    )
    assert decision.error.startswith("calcScore failed invalid")
    assert world.events.told == []


def test_of_equal_names_in_a_simulation_the_last_counts(world: World) -> None:
    """F-43."""
    nodes = [registered("t", "t"), make_node("t")]
    assert world.scheduler.filter(pod_of(), names=None, nodes=nodes).refused == {"t": "node unregistered"}
