"""What pods do to the cards of a node beyond amounts (M-16 to M-22)."""

import json
from dataclasses import replace

from scheduler_app.core.types import Allocation, Card, CardId, NodeName, Placement
from scheduler_app.engine.nodebook import Held, NodeBook
from tests.core.plain import PLAIN
from tests.devices.nvidia.cards import NVIDIA, card, mig_card
from tests.engine.world import VENDOR, World, asking, pod_of, registered
from tests.factories import make_node, make_pod

MIG_KEY = "hami.io/vgpu-mig-allocations"
N1 = NodeName("n1")
PLACED = {"start": 0, "size": 2}


def book_of(*cards: Card) -> NodeBook:
    book = NodeBook({NVIDIA.vendor_key: NVIDIA, VENDOR: PLAIN})
    book.merge(make_node("n1"), {NVIDIA.vendor_key: cards})
    return book


def put(book: NodeBook, *held: str, name: str = "p", reservations: object = None) -> None:
    """Put a pod on the node that holds one instance's worth of each of the cards."""
    allocations = tuple(Allocation(CardId(id), "NVIDIA", 5120, 14) for id in held)
    annotations = {} if reservations is None else {MIG_KEY: json.dumps(reservations)}
    book.put_pod(N1, Held(make_pod(name=name, annotations=annotations), {NVIDIA.vendor_key: (allocations,)}))


def reserved(card: str, **more: object) -> dict[str, object]:
    placed = {"containerIndex": 0, "deviceIndex": 0, "gpuUUID": card, "profile": "2g.10gb"}
    return {**placed, "placement": PLACED, **more}


def test_q04_a_reserved_instance_is_seen_on_its_card() -> None:
    """M-19."""
    book = book_of(mig_card("m").card)
    put(book, "m", reservations=[reserved("m")])
    usage = book.usage(N1)
    assert usage is not None
    (used,) = usage.cards
    assert used.healthy
    assert [item.placement for item in used.slices] == [Placement(0, 2)]


def test_f20_an_instance_nobody_describes_makes_its_card_unusable_and_nothing_breaks() -> None:
    """M-19: fail closed."""
    book = book_of(mig_card("m").card, card("x").card)
    put(book, "m")
    usage = book.usage(N1)
    assert usage is not None
    assert [used.healthy for used in usage.cards] == [False, True]


def test_f20_a_reservation_on_a_card_in_another_mode_marks_it() -> None:
    """M-19, M-21."""
    book = book_of(card("x").card)
    put(book, "x", reservations=[reserved("x")])
    usage = book.usage(N1)
    assert usage is not None
    assert not usage.cards[0].healthy


def test_f20_a_reservation_on_an_unknown_card_marks_all_sliced_cards() -> None:
    """IF-14, M-21."""
    book = book_of(mig_card("m").card, card("x").card)
    put(book, reservations=[reserved("gone")])
    usage = book.usage(N1)
    assert usage is not None
    assert [used.healthy for used in usage.cards] == [False, True]


def test_marks_leave_with_their_pod() -> None:
    book = book_of(mig_card("m").card)
    put(book, "m")
    book.drop_pod(N1, make_pod(name="p").uid)
    usage = book.usage(N1)
    assert usage is not None
    assert usage.cards[0].healthy


def test_usage_is_worked_out_again_only_for_nodes_that_changed() -> None:
    """The ratchet of incremental accounting: work per change is one node, never the cluster."""
    world = World(*(registered(f"n{n}", f"c{n}") for n in range(50)))
    before = world.state.everything()
    world.filter(pod_of(asking()))
    after = world.state.everything()
    assert sum(before[name] is not after[name] for name in after) == 1


def test_nodes_in_the_same_state_have_one_shape() -> None:
    world = World(registered("n1", "a", "b"), registered("n2", "c", "d"), registered("n3", "e"))
    shapes = {name: usage.shape for name, usage in world.state.everything().items()}
    assert shapes[NodeName("n1")] == shapes[NodeName("n2")] != shapes[NodeName("n3")]


def test_a_node_whose_cards_share_an_id_is_like_no_other() -> None:
    """Q-44."""
    world = World(registered("n1", "a", "a"), registered("n2", "b", "b"))
    assert {usage.shape for usage in world.state.everything().values()} == {-1}


def test_merging_the_same_again_is_no_change() -> None:
    book = book_of(card("x").card)
    revision = book.revision
    book.merge(make_node("n1"), {NVIDIA.vendor_key: (card("x").card,)})
    assert book.revision == revision


def test_n18_health_goes_both_ways() -> None:
    book = book_of(card("x").card)
    for healthy in (False, True):
        book.merge(make_node("n1"), {NVIDIA.vendor_key: (replace(card("x").card, healthy=healthy),)})
        usage = book.usage(N1)
        assert usage is not None
        assert usage.cards[0].healthy is healthy
