"""The one picture of the cluster: whatever happened in whatever order, it is the sum of what is there now."""

import threading
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import Container, Node, NodeName, Pod, PodUid, ResourceQuota
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.registration import cards_of
from tests.core.plain import CORES, MEM
from tests.engine.world import PLAIN_ONLY, VENDOR, World, asking, holding, pod_of, registered

NODES = {"n1": ("a", "b"), "n2": ("c",), "n3": ("d", "e", "f")}
INIT = Container("init")


@st.composite
def devices(draw: st.DrawFn, node: str) -> str:
    """Return a device text of two containers, the init container first."""
    containers = []
    for _ in range(2):
        cards = draw(st.lists(st.sampled_from(NODES[node]), unique=True, max_size=2))
        amounts = [(card, draw(st.integers(0, 900)), draw(st.integers(0, 90))) for card in cards]
        containers.append("".join(f"{card},Plain,{mem},{cores}:" for card, mem, cores in amounts) + ";")
    return "".join(containers)


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    """Return a pod as the watch may show it at any moment of its life."""
    name = draw(st.sampled_from("pqrs"))
    pod = pod_of(
        name=name,
        namespace=draw(st.sampled_from(["red", "blue"])) if name == "p" else "red",
        init_containers=(INIT,),
        init_succeeded=draw(st.booleans()),
        phase=draw(st.sampled_from(["Pending", "Running", "Succeeded"])),
        is_terminating=draw(st.booleans()),
        node_name=draw(st.sampled_from(["", "n1"])),
    )
    node = draw(st.sampled_from(["", *NODES]))
    return holding(pod, node, draw(devices(node))) if node else pod


@dataclass
class Model:
    """What is there, kept the simple way."""

    pods: dict[str, Pod] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    quotas: dict[tuple[str, str], ResourceQuota] = field(default_factory=dict)

    def fresh(self, *, reverse: bool = False) -> ClusterState:
        """Return a state that saw everything for the first time, as after a restart."""
        state = ClusterState(PLAIN_ONLY)
        things: list[Node | Pod | ResourceQuota] = [
            *self.nodes.values(),
            *self.pods.values(),
            *self.quotas.values(),
        ]
        for thing in reversed(things) if reverse else things:
            if isinstance(thing, Node):
                state.merge_node(thing, cards_of(thing, PLAIN_ONLY))
            elif isinstance(thing, Pod):
                state.see_pod(thing)
            else:
                state.see_quota(thing)
        return state


events = st.lists(
    st.one_of(
        pods().map(lambda pod: ("pod", pod)),
        st.sampled_from("pqrs").map(lambda name: ("lost", name)),
        st.sampled_from(sorted(NODES)).map(lambda name: ("node", name)),
        st.sampled_from(sorted(NODES)).map(lambda name: ("gone", name)),
        st.tuples(st.sampled_from(["q1", "q2"]), st.integers(0, 5)).map(lambda pair: ("quota", pair)),
    ),
    max_size=25,
)


def happen(state: ClusterState, model: Model, event: tuple[str, object]) -> None:
    kind, what = event
    if isinstance(what, Pod):
        state.see_pod(what)
        model.pods[what.name] = what
    elif kind == "lost":
        state.lose_pod(PodUid(f"uid-{what}"))
        model.pods.pop(str(what), None)
    elif kind == "node":
        node = model.nodes[str(what)] = registered(str(what), *NODES[str(what)])
        state.merge_node(node, cards_of(node, PLAIN_ONLY))
    elif kind == "gone":
        state.drop_node(NodeName(str(what)))
        model.nodes.pop(str(what), None)
    elif isinstance(what, tuple):
        quota = ResourceQuota("red", what[0], {f"limits.{MEM}": str(what[1] * 100)})
        state.see_quota(quota)
        model.quotas["red", what[0]] = quota


def picture(state: ClusterState) -> object:
    """Return all that decisions look at; entries that say nothing are left out."""
    usage = {
        name: [(c.id, c.shares_used, c.mem_used_mib, c.cores_used, c.healthy, c.marks) for c in node.cards]
        for name, node in state.everything().items()
    }
    quotas = {
        (namespace, resource): (entry.used, entry.limit, entry.source)
        for namespace, quota in state.quotas().items()
        for resource, entry in quota.entries.items()
        if entry.used or entry.limit is not None
    }
    return usage, quotas, {entry.pod.uid: (entry.node, entry.devices) for entry in state.pods()}


@settings(max_examples=100, deadline=None)
@given(events)
def test_any_history_ends_as_a_restart_would_begin(history: list[tuple[str, object]]) -> None:
    """Q-20, Q-22, Q-46, F10, F40: usage is the sum over pods after any events, restarts included."""
    state, model = ClusterState(PLAIN_ONLY), Model()
    for event in history:
        happen(state, model, event)
    assert picture(state) == picture(model.fresh())


@settings(max_examples=75, deadline=None)
@given(events)
def test_the_order_of_a_first_list_does_not_matter(history: list[tuple[str, object]]) -> None:
    model = Model()
    scratch = ClusterState(PLAIN_ONLY)
    for event in history:
        happen(scratch, model, event)
    assert picture(model.fresh()) == picture(model.fresh(reverse=True))


@settings(max_examples=75, deadline=None)
@given(events, st.integers(1, 3), st.integers(0, 400))
def test_assume_and_forget_cancel_out(history: list[tuple[str, object]], cards: int, mem_mib: int) -> None:
    """F-41: what a failed write undoes leaves no trace."""
    world, model = World(), Model()
    for event in history:
        happen(world.state, model, event)
    before = picture(world.state)
    fresh = pod_of(asking(cards, mem_mib), name="fresh", namespace="red")
    world.writer.fails["patch_pod"] = HamiError("the API server refuses")
    decision = world.filter(fresh, sorted(NODES))
    assert decision.chosen is None
    assert picture(world.state) == before


@settings(max_examples=50, deadline=None)
@given(events)
def test_shape_and_version_follow_the_state(history: list[tuple[str, object]]) -> None:
    """Equal shapes are equal cards in equal use; a node's version moves whenever its cards' use does."""
    state, model = ClusterState(PLAIN_ONLY), Model()
    before = state.everything()
    for event in history:
        happen(state, model, event)
        after = state.everything()
        for name, usage in after.items():
            known = before.get(name)
            if known is not None and known.cards != usage.cards:
                assert usage.version > known.version
        before = after
    by_shape: dict[int, object] = {}
    for usage in before.values():
        use = [(c.shares_used, c.mem_used_mib, c.cores_used, c.card.index) for c in usage.cards]
        assert by_shape.setdefault(usage.shape, use) == use


def test_n13_what_is_handed_out_cannot_change_the_state() -> None:
    """M-1."""
    world = World(registered("n1", "a"))
    everything = world.state.everything()
    everything.clear()
    assert len(world.state.everything()) == 1
    with pytest.raises(AttributeError):
        world.state.everything()[NodeName("n1")].version = 0  # type: ignore[misc]  # that is the point


def test_q_03_a_changed_node_object_is_seen_at_once() -> None:
    """M-5, Q-3, N17: cordons and labels of a registered node do not wait for a pass."""
    world = World(registered("n1", "a"))
    changed = registered("n1", "a", labels={"zone": "east"})
    world.state.refresh_node(changed)
    assert world.state.everything()[NodeName("n1")].node is changed


def test_a_heartbeat_is_no_change() -> None:
    world = World(registered("n1", "a"))
    version = world.state.everything()[NodeName("n1")].version
    world.state.refresh_node(registered("n1", "a", resource_version="2"))
    assert world.state.everything()[NodeName("n1")].version == version


def test_f30_the_inventory_is_replaced_as_a_whole() -> None:
    """M-2."""
    world = World(registered("n1", "a", "b", "c"))
    world.register(registered("n1", "b"))
    assert [card.id for card in world.state.everything()[NodeName("n1")].cards] == ["b"]


def test_a_node_without_vendors_leaves() -> None:
    """M-3."""
    world = World(registered("n1", "a"))
    world.state.drop_vendor(NodeName("n1"), VENDOR)
    assert world.state.registered() == ()
    assert world.state.everything() == {}


def test_f36_capacity_that_shrinks_under_pods_stays_used() -> None:
    world = World(registered("n1", "a", mem_mib=1000))
    world.state.see_pod(holding(pod_of(), "n1", "a,Plain,900,10:;"))
    world.register(registered("n1", "a", mem_mib=500))
    assert world.used() == [(1, 900, 10)]
    assert world.filter(pod_of(name="q")).kind == "refused"


def test_f21_pods_on_a_card_that_falls_ill_stay_counted() -> None:
    world = World(registered("n1", "a"))
    world.state.see_pod(holding(pod_of(), "n1", "a,Plain,900,10:;"))
    world.register(registered("n1", "a", healthy=False))
    assert world.used() == [(1, 900, 10)]
    assert world.filter(pod_of(name="q")).refused == {"n1": "1/1 CardNotHealth"}


def test_q_44_cards_that_share_an_id_all_count() -> None:
    world = World(registered("n1", "a", "a"))
    world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    assert world.used() == [(1, 100, 10), (1, 100, 10)]


def test_a_snapshot_has_the_registered_names_only() -> None:
    """M-4."""
    world = World(*(registered(f"n{n}", f"c{n}") for n in range(30)))
    few = world.state.snapshot([NodeName("n3"), NodeName("nowhere")]).nodes
    assert list(few) == ["n3"]


def test_the_overview_changes_with_passes_and_with_lost_nodes_only() -> None:
    """R-18, M-6."""
    world = World(registered("n1", "a"), registered("n2", "c"))
    world.state.take_overview()
    world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    assert world.state.overview[NodeName("n1")].cards[0].shares_used == 0
    world.state.drop_node(NodeName("n2"))
    assert list(world.state.overview) == ["n1"]


def test_changes_are_told_once() -> None:
    world = World(registered("n1", "a"))
    assert list(world.state.take_changes().nodes) == ["n1"]
    again = world.state.take_changes()
    assert (again.nodes, again.quotas) == ({}, None)
    world.state.drop_node(NodeName("n1"))
    assert world.state.take_changes().nodes == {"n1": None}


def test_holders_are_found_by_card_id() -> None:
    world = World(registered("n1", "a"), registered("n2", "c"))
    assert world.state.holders(["c", "nowhere"]) == {"n2"}
    world.register(registered("n2", "d"))
    assert world.state.holders(["c"]) == frozenset()


@dataclass
class Watch:
    """Keeps sending events until told to stop."""

    state: ClusterState
    stop: threading.Event = field(default_factory=threading.Event)
    errors: list[BaseException] = field(default_factory=list)

    def run(self) -> None:
        number = 0
        try:
            while not self.stop.is_set():
                pod = holding(pod_of(name=f"w{number % 5}"), "n1", "a,Plain,1,1:;")
                self.state.see_pod(pod if number % 3 else replace(pod, phase="Failed"))
                self.state.refresh_node(registered("n1", "a", labels={"n": str(number)}))
                number += 1
        except BaseException as exc:  # noqa: BLE001  (told to the test)
            self.errors.append(exc)


def test_k12_readers_and_writers_side_by_side_see_whole_pictures() -> None:
    world = World(registered("n1", "a"))
    watch = Watch(world.state)
    thread = threading.Thread(target=watch.run)
    thread.start()
    try:
        for _ in range(300):
            card = world.state.everything()[NodeName("n1")].cards[0]
            assert card.shares_used == card.mem_used_mib == card.cores_used == len(card.marks)
            world.state.take_overview()
    finally:
        watch.stop.set()
        thread.join()
    assert watch.errors == []


@pytest.mark.parametrize("resource", [MEM, CORES])
def test_quota_is_charged_for_both_resources(resource: str) -> None:
    """M-29, M-30."""
    world = World(registered("n1", "a"))
    world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    assert world.quota_used(resource=resource) == {MEM: 100, CORES: 10}[resource]
