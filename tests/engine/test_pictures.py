"""The cluster state as people see it."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.publication import CardView, NodeView
from scheduler_app.core.types import Allocation, Container, Node, NodeName, Pod, ResourceQuota, VendorKey
from scheduler_app.engine.pictures import Pictures
from tests.core.plain import CORES, MEM, PLAIN, PlainBackend
from tests.devices.nvidia import cards as nvidia
from tests.engine.world import PLAIN_ONLY, REGISTER, VENDOR, World, asking, holding, pod_of, registered
from tests.factories import make_node, make_pod
from tests.fakes.cluster import FakeNodes

N1 = NodeName("n1")


class Gallery:
    def __init__(
        self,
        *,
        backends: Mapping[VendorKey, DeviceBackend] = PLAIN_ONLY,
        quota_all_vendors: bool = False,
        selector: Mapping[str, str] | None = None,
        registered_ms: int = 42,
    ) -> None:
        self.nodes = FakeNodes([registered("n1", "a", "b")])
        self.world = World(*self.nodes.list(), backends=backends)
        self.problems: dict[NodeName, str] = {}
        self.pictures = Pictures(
            state=self.world.state,
            backends=backends,
            titles={VENDOR: "Plain GPUs"},
            node=self.nodes.get,
            problems=lambda: self.problems,
            registered_ms=lambda: registered_ms,
            quota_all_vendors=quota_all_vendors,
            selector=selector or {},
        )

    def view(self, name: str = "n1") -> NodeView:
        usage = self.world.state.everything().get(NodeName(name))
        view = self.pictures.node(NodeName(name), usage)
        assert view is not None
        return view

    def card(self) -> CardView:
        return self.view().cards[0]


@pytest.fixture
def gallery() -> Gallery:
    return Gallery()


def test_a_card_shows_what_is_used_of_what_there_is(gallery: Gallery) -> None:
    gallery.world.state.see_pod(holding(pod_of(phase="Running"), "n1", "a,Plain,100,10:;"))
    card = gallery.card()
    assert (card.vendor, card.shares, card.mem_mib, card.cores) == (
        "Plain GPUs",
        (1, 10),
        (100, 1000),
        (10, 100),
    )
    (share,) = card.pods
    assert (share.namespace, share.name, share.mem_mib, share.phase) == ("default", "p", 100, "Running")


def test_f11_a_pod_on_a_card_that_was_replaced_is_shown(gallery: Gallery) -> None:
    """M-20: it counts on no card, so only this tells that it is there."""
    gallery.world.state.see_pod(holding(pod_of(), "n1", "gone,Plain,100,10:;"))
    view = gallery.view()
    assert [card.pods for card in view.cards] == [(), ()]
    assert [(orphan.card, orphan.pod.name, orphan.pod.mem_mib) for orphan in view.orphans] == [
        ("gone", "p", 100)
    ]


def test_f08_a_card_names_the_containers_that_hold_it(gallery: Gallery) -> None:
    """P-8: segments are those of init containers first, so an empty first one is the init container's."""
    one = pod_of(asking(name="train"), init_containers=(Container("fetch"),))
    gallery.world.state.see_pod(holding(one, "n1", ";a,Plain,614,30:;"))
    both = pod_of(asking(name="eval"), name="q", init_containers=(asking(name="load"),))
    gallery.world.state.see_pod(holding(both, "n1", "a,Plain,100,10:;a,Plain,100,10:;"))
    shares = {share.name: share.containers for share in gallery.card().pods}
    assert shares == {"p": ("train",), "q": ("load", "eval")}


def test_f11_what_pods_hold_on_a_node_that_left_the_register_stays_visible() -> None:
    """M-6: its only device plugin is gone, its pods run on; before the first pass nobody knows that yet."""
    for registered_ms, held in ((42, ["a"]), (0, [])):
        gallery = Gallery(registered_ms=registered_ms)
        gallery.world.state.see_pod(holding(pod_of(phase="Running"), "n1", "a,Plain,100,10:;"))
        gallery.world.state.drop_vendor(N1, VENDOR)
        view = gallery.view()
        assert (view.state, [orphan.card for orphan in view.orphans]) == ("unregistered", held)


def test_f08_an_init_container_that_has_ended_holds_nothing_any_more(gallery: Gallery) -> None:
    """M-13: its place is given back, so its name does not stand beside what the others hold."""
    pod = pod_of(asking(name="eval"), init_containers=(asking(name="load"),), init_succeeded=True)
    gallery.world.state.see_pod(holding(pod, "n1", "a,Plain,100,10:;a,Plain,100,10:;"))
    (share,) = gallery.card().pods
    assert share.containers == ("eval",)


def test_n17_a_cordoned_card_says_so_at_once(gallery: Gallery) -> None:
    node = gallery.nodes.seen[N1]
    gallery.nodes.change("n1", annotations={**node.annotations, "hami.io/device-cordon": " a ,x"})
    assert [card.cordoned for card in gallery.view().cards] == [True, False]


@pytest.mark.parametrize(
    ("change", "state"),
    [({}, "ok"), ({"is_ready": False}, "silent"), ({"is_unschedulable": True}, "cordoned")],
)
def test_the_state_is_the_node_object_s(gallery: Gallery, change: dict[str, bool], state: str) -> None:
    gallery.nodes.change("n1", **change)
    assert gallery.view().state == state


def test_n16_an_unregistered_node_shows_its_problem(gallery: Gallery) -> None:
    gallery.nodes.seen[NodeName("n2")] = make_node("n2")
    gallery.problems[NodeName("n2")] = "Plain: not JSON"
    view = gallery.view("n2")
    assert (view.state, view.problem, view.version, view.cards) == ("unregistered", "Plain: not JSON", 0, ())


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (
            registered("n2", "a", labels={"pool": "cpu"}),
            "not selected: label gpu=on is missing",
        ),
        (
            make_node("n2", labels={"gpu": "on"}),
            "no device plugin has registered cards: no register annotation, no capacity",
        ),
        (
            registered("n2", "a", labels={"gpu": "on"}),
            "Plain: the device plugin does not answer the handshake",
        ),
        (
            make_node("n2", labels={"gpu": "on"}, annotations={REGISTER: "[]"}),
            "Plain: the device plugin registers an empty list",
        ),
        (
            make_node("n2", labels={"gpu": "on"}, annotations={REGISTER: "-"}),
            "Plain: the register annotation cannot be read",
        ),
    ],
)
def test_n16_three_causes_of_a_node_without_cards_are_told_apart(node: Node, why: str) -> None:
    """R-4, R-8, M-23: no matching label; label without annotation; handshake expired.

    N06: or the annotation says itself that there are none. What is wrong with one that cannot be read, the
    next pass tells.
    """
    gallery = Gallery(selector={"gpu": "on"})
    gallery.nodes.seen[NodeName("n2")] = node
    assert gallery.view("n2").problem == why
    assert gallery.view("n1").problem == ""


def test_n16_of_a_vendor_without_handshake_none_is_said_to_be_unanswered() -> None:
    """AMD-4: its cards go with the node's capacity."""
    gallery = Gallery(backends={VENDOR: PlainWithoutHandshake(), Other.vendor_key: Other()})
    plain = registered("n2", "a")
    gallery.nodes.seen[NodeName("n2")] = plain
    assert gallery.view("n2").problem == "Plain: no plain.io/gpu in the node's capacity"
    text = plain.annotations[REGISTER]
    both = make_node("n2", annotations={REGISTER: text, Other.keys.register: text})
    gallery.nodes.seen[NodeName("n2")] = both
    assert gallery.view("n2").problem == (
        "Other: the device plugin does not answer the handshake; "
        "Plain: no plain.io/gpu in the node's capacity"
    )


def test_a_node_nobody_knows_has_no_view(gallery: Gallery) -> None:
    assert gallery.pictures.node(NodeName("n9"), None) is None


def test_lock_pool_and_time_are_shown(gallery: Gallery) -> None:
    node = gallery.nodes.seen[N1]
    lock = "2026-01-02T15:04:05Z,default,p"
    gallery.nodes.change(
        "n1", annotations={**node.annotations, "hami.io/mutex.lock": lock}, labels={"nodepool": "train"}
    )
    view = gallery.view()
    assert (view.lock, view.pool, view.registered_ms) == (lock, "train", 42)


def test_handshakes_are_those_of_vendors_with_cards_there(gallery: Gallery) -> None:
    node = gallery.nodes.seen[N1]
    gallery.nodes.change(
        "n1", annotations={**node.annotations, PLAIN.keys.handshake: "Reported_x", "other": "y"}
    )
    assert gallery.view().handshakes == {PLAIN.keys.handshake: "Reported_x"}


def limit(gallery: Gallery, **hard: str) -> None:
    names = {"mem": f"limits.{MEM}", "cores": f"limits.{CORES}"}
    gallery.world.state.see_quota(
        ResourceQuota("team", "q", {names[key]: text for key, text in hard.items()})
    )


@pytest.mark.parametrize(("all_vendors", "is_enforced"), [(False, False), (True, True)])
def test_a_limit_that_nothing_checks_is_marked(all_vendors: bool, is_enforced: bool) -> None:
    gallery = Gallery(quota_all_vendors=all_vendors)
    limit(gallery, mem="100")
    (view,) = gallery.pictures.quotas(gallery.world.state.quotas())
    assert (view.namespace, view.resource, view.limit, view.is_enforced) == ("team", MEM, 100, is_enforced)


def test_the_limits_that_fit_checks_are_enforced() -> None:
    gallery = Gallery(backends={nvidia.NVIDIA.vendor_key: nvidia.NVIDIA})
    gallery.world.state.see_quota(ResourceQuota("team", "q", {f"limits.{nvidia.MEM}": "5"}))
    (view,) = gallery.pictures.quotas(gallery.world.state.quotas())
    assert (view.is_enforced, view.unit) == (True, "MiB")


def test_entries_that_say_nothing_are_left_out(gallery: Gallery) -> None:
    limit(gallery, mem="100", cores="10")
    limit(gallery, mem="100")
    assert [view.resource for view in gallery.pictures.quotas(gallery.world.state.quotas())] == [MEM]


def test_u15_slices_lie_on_their_card() -> None:
    gallery = Gallery(backends={nvidia.NVIDIA.vendor_key: nvidia.NVIDIA})
    card = replace(nvidia.mig_card("m").card)
    gallery.world.state.merge_node(gallery.nodes.seen[N1], {nvidia.NVIDIA.vendor_key: (card,)})
    assert gallery.card().slice_total == 8


def test_nv_71_an_instance_names_the_pod_that_reserved_it() -> None:
    """NV-71: two of one size, each with its own pod; the pod's part is the profile."""
    gallery = Gallery(backends={nvidia.NVIDIA.vendor_key: nvidia.NVIDIA})
    card = nvidia.mig_card("m").card
    gallery.world.state.merge_node(gallery.nodes.seen[N1], {nvidia.NVIDIA.vendor_key: (card,)})
    name = card.profiles[0].name
    for start, pod in ((0, "p"), (1, "q")):
        reserved = [
            {"containerIndex": 0, "deviceIndex": 0, "gpuUUID": "m", "profile": name,
             "placement": {"start": start, "size": 1}}
        ]  # fmt: skip
        written = {
            "hami.io/vgpu-node": "n1",
            "hami.io/vgpu-devices-allocated": "m,NVIDIA,4864,14:;",
            "hami.io/vgpu-mig-allocations": json.dumps(reserved),
        }
        gallery.world.state.see_pod(make_pod(name=pod, annotations=written, phase="Running"))
    view = gallery.card()
    assert [(one.start, one.pod) for one in view.slices] == [(0, "default/p"), (1, "default/q")]
    assert {share.name: share.parts for share in view.pods} == {"p": (name,), "q": (name,)}


class PlainWithoutHandshake(PlainBackend):
    keys = replace(PLAIN.keys, handshake="")


class Other(PlainBackend):
    vendor_key = VendorKey("Other")
    keys = replace(PLAIN.keys, register="other.io/register")


class Uncounted(PlainBackend):
    """A vendor whose file says that nothing of a card is counted, and what its parts are called."""

    counts_memory = counts_cores = False
    cores_unit = "EU"
    quota_cores_unit = "mask"

    def part(self, pod: Pod, position: int, held: Allocation) -> str:
        return f"part {position}"


def test_what_the_vendor_does_not_count_is_none_and_its_words_are_kept() -> None:
    gallery = Gallery(backends={VENDOR: Uncounted()})
    gallery.world.state.see_pod(holding(pod_of(phase="Running"), "n1", ";a,Plain,100,10:;"))
    card = gallery.card()
    assert (card.mem_mib, card.cores, card.shares, card.cores_unit) == (None, None, (1, 10), "EU")
    (share,) = card.pods
    assert (share.mem_mib, share.cores, share.parts) == (None, None, ("part 1",))


def test_f11_of_a_card_that_is_not_registered_the_vendor_counts_as_of_any_other() -> None:
    gallery = Gallery(backends={VENDOR: Uncounted()})
    gallery.world.state.see_pod(holding(pod_of(phase="Running"), "n1", ";gone,Plain,100,10:;"))
    (orphan,) = gallery.view().orphans
    assert (orphan.pod.mem_mib, orphan.pod.cores, orphan.cores_unit) == (None, None, "EU")
    assert orphan.pod.parts == ("part 1",)


def test_a_quota_of_cores_has_the_vendor_s_unit() -> None:
    gallery = Gallery(backends={VENDOR: Uncounted()})
    limit(gallery, cores="100")
    (view,) = gallery.pictures.quotas(gallery.world.state.quotas())
    assert (view.resource, view.unit) == (CORES, "mask")
