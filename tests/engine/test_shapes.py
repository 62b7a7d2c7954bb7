"""The remembered outcome equals the plain path; the work grows with what differs, not with what there is."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.predicate import Ask, predicate, requests_of
from scheduler_app.core.score import Weights
from scheduler_app.core.types import Card, Container, NodeName, Pod, ResourceQuota, VendorKey
from scheduler_app.engine import shapes
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.evaluation import ask_for, evaluate
from scheduler_app.engine.shapes import ShapeMemo
from tests.core.plain import CORES, COUNT, MEM, MODEL, PLAIN, USE_UUID
from tests.devices.nvidia import cards as nvidia
from tests.engine.world import VENDOR, World, asking, holding, pod_of, registered
from tests.factories import make_container, make_node, make_pod

BACKENDS: Mapping[VendorKey, DeviceBackend] = {nvidia.NVIDIA.vendor_key: nvidia.NVIDIA, VENDOR: PLAIN}
OWN = frozenset({"hami.io/vgpu-node"})


def nvidia_card(id: str, kind: int) -> Card:
    """Return one of a few kinds of card: shared on two NUMA nodes, unhealthy, cut into instances."""
    numa = {"numa": kind % 2, "link_scores": {"x0": 10 * kind}}
    if kind == 3:
        return nvidia.mig_card(id).card
    return nvidia.card(id, healthy=kind != 2, **numa).card


def plain_card(id: str, kind: int) -> Card:
    return Card(id, VENDOR, MODEL, 0, 4, 500 * (1 + kind), 100)  # type: ignore[arg-type]  # a CardId


@st.composite
def clusters(draw: st.DrawFn) -> ClusterState:
    """Return a cluster of few kinds of node, some in use, with pods counted on them."""
    state = ClusterState(BACKENDS)
    for n in range(draw(st.integers(1, 8))):
        kinds = draw(st.sampled_from([(0,), (0, 0), (0, 1), (1, 0), (3,), (2, 0), ()]))
        gpus = tuple(nvidia_card(f"g{n}-{i}", kind) for i, kind in enumerate(kinds))
        plain = tuple(plain_card(f"p{n}-{i}", i) for i in range(draw(st.integers(0, 2))))
        cordoned = {"hami.io/device-cordon": f"g{n}-0"} if draw(st.integers(0, 4)) == 0 else {}
        state.merge_node(
            make_node(f"n{n}", annotations=cordoned), {nvidia.NVIDIA.vendor_key: gpus, VENDOR: plain}
        )
        for i in range(draw(st.integers(0, 2))):
            amounts = f"{draw(st.integers(0, 3)) * 100},{draw(st.integers(0, 2)) * 50}"
            held = holding(make_pod(name=f"p{n}-{i}"), f"n{n}", f"p{n}-0,Plain,{amounts}:;")
            state.see_pod(held)
    return state


@st.composite
def containers(draw: st.DrawFn) -> Container:
    wants: dict[str, int] = {}
    if draw(st.booleans()):
        wants |= {nvidia.GPU: draw(st.integers(1, 2)), nvidia.MEM: draw(st.sampled_from([100, 600, 5000]))}
        wants |= {nvidia.CORES: draw(st.sampled_from([0, 30, 100]))}
    if draw(st.booleans()):
        wants |= {COUNT: draw(st.integers(1, 2)), MEM: draw(st.sampled_from([0, 200, 700]))}
        wants |= {CORES: draw(st.sampled_from([0, 50]))}
    return make_container("c", limits=wants)


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    told = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "hami.io/node-scheduler-policy": st.sampled_from(["spread", "binpack"]),
                "hami.io/gpu-scheduler-policy": st.sampled_from(
                    ["spread", "binpack", "topology-aware", "mutex", "numa,binpack"]
                ),
                "hami.io/device-scoring-weights": st.sampled_from(["slot=1,core=2,memory=3"]),
                "nvidia.com/numa-bind": st.sampled_from(["true", "false"]),
                "nvidia.com/use-gpuuuid": st.sampled_from(["g0-0", "g1-0,g2-0"]),
                USE_UUID: st.sampled_from(["p0-0", "p1-0, p2-1"]),
            },
        )
    )
    init = draw(st.lists(containers(), max_size=1))
    sidecar = draw(st.booleans())
    return make_pod(
        name=draw(st.sampled_from(["one", "two"])),
        annotations=told,
        containers=tuple(draw(st.lists(containers(), min_size=1, max_size=2))),
        init_containers=tuple(replace(item, restarts_always=sidecar) for item in init),
    )


def ask_of(pod: Pod, state: ClusterState) -> Ask:
    return ask_for(
        pod,
        requests=requests_of(pod, BACKENDS),
        backends=BACKENDS,
        config=SchedulerConfig(),
        quota=state.quota(pod.namespace),
    )


def named_cards(pod: Pod) -> set[str]:
    return {item.strip() for text in pod.annotations.values() for item in text.split(",")}


@settings(max_examples=70, deadline=None)
@given(clusters(), st.lists(pods(), min_size=1, max_size=5), st.none() | st.integers(0, 3))
def test_the_memo_answers_as_the_plain_path(state: ClusterState, asked: list[Pod], limit: int | None) -> None:
    """Same nodes, same texts, same scores to the last bit, same devices, whatever came before."""
    if limit is not None:
        state.see_quota(ResourceQuota("default", "q", {f"limits.{nvidia.MEM}": str(limit * 300)}))
    memo = ShapeMemo(own_keys=OWN)
    names = [NodeName(f"n{n}") for n in range(9)]
    for pod in [*asked, *asked]:
        ask = ask_of(pod, state)
        snapshot = state.snapshot(names)
        nodes = snapshot.nodes
        plain = evaluate(ask, names, nodes)
        fast = memo.evaluate(ask, names, snapshot, alone=state.holders(named_cards(pod)))
        assert list(fast.fitting) == list(plain.fitting)
        assert fast.refused == plain.refused
        assert fast.by_container == plain.by_container
        assert fast.best == plain.best
        if fast.best is not None:
            name = fast.best[0]
            devices = predicate(ask, nodes[name]).devices
            state.assume(pod, before=pod, node=name, devices=devices or {})


@pytest.fixture
def fleet() -> World:
    """Sixty nodes in three states."""
    sizes = (1000, 2000, 3000)
    return World(*(registered(f"n{n}", f"a{n}", f"b{n}", mem_mib=sizes[n % 3]) for n in range(60)))


def test_work_is_one_evaluation_for_each_distinct_state(fleet: World) -> None:
    """The ratchet: 60 candidates in 3 states are 3 evaluations; the next pod costs the one that changed."""
    fleet.filter(pod_of(name="p1"))
    assert fleet.scheduler.work.misses == 3
    fleet.filter(pod_of(name="p2"))
    assert fleet.scheduler.work.misses == 4


def test_another_request_is_worked_out_afresh(fleet: World) -> None:
    fleet.filter(pod_of(asking(mem_mib=10**6), name="p1"))
    fleet.filter(pod_of(asking(mem_mib=10**6 + 1), name="p2"))
    assert fleet.scheduler.work.misses == 6


def test_a_refused_pod_that_comes_again_costs_nothing(fleet: World) -> None:
    for _ in range(5):
        fleet.filter(pod_of(asking(mem_mib=10**6)))
    assert fleet.scheduler.work.misses == 3


def test_our_own_annotations_do_not_make_a_request_another(fleet: World) -> None:
    pod = pod_of(asking(mem_mib=10**6))
    fleet.filter(pod)
    fleet.filter(holding(pod, "n1", "a1,Plain,1,1:;"))
    assert fleet.scheduler.work.misses == 3


def test_only_nodes_that_hold_a_named_card_take_the_plain_path(fleet: World) -> None:
    pod = pod_of(annotations={USE_UUID: "a7"})
    decision = fleet.filter(pod)
    assert decision.chosen is not None
    assert decision.chosen.node == "n7"
    assert fleet.scheduler.work.misses == 4


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The request asked longest ago goes first."""
    monkeypatch.setattr(shapes, "REQUESTS_KEPT", 4)
    monkeypatch.setattr(shapes, "OUTCOMES_KEPT", 10)
    world = World(*(registered(f"n{n}", f"a{n}", mem_mib=1000 + n) for n in range(4)))
    memo = ShapeMemo(own_keys=OWN)
    snapshot = world.state.snapshot(world.names)
    for size in range(1, 20):
        pod = pod_of(asking(mem_mib=size))
        ask = Ask(pod, requests_of(pod, world.backends), world.backends, "binpack", "spread", Weights())
        memo.evaluate(ask, world.names, snapshot)
        assert len(memo._tables) <= 4
        assert sum(len(table.ranks) - 1 for table in memo._tables.values()) <= 10


def test_one_request_with_too_many_outcomes_is_forgotten_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "OUTCOMES_KEPT", 3)
    world = World(*(registered(f"n{n}", f"a{n}", mem_mib=1000 + n) for n in range(5)))
    decision = world.filter(pod_of())
    assert decision.findings.fitted == 5
    assert not world.scheduler._memo._tables
