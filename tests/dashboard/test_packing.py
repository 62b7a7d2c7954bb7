"""The packing strip tells what is known, and no more."""

from dataclasses import replace
from typing import Any

from dashboard.picture.packing import strips
from scheduler_app.core.publication import PodShare, SliceView
from tests.dashboard.clusters import make_card_view, make_node_view


def share(name: str, mem_mib: int, shares: int = 1) -> PodShare:
    return PodShare(name, "vision", name, mem_mib, 10, shares)


def pieces(**card: Any) -> list[tuple[str, str]]:
    node = make_node_view(cards=[make_card_view(**card)])
    return [(piece.label, piece.pod) for piece in strips(node)[0].pieces]


def test_pods_lie_side_by_side_by_memory() -> None:
    card = make_card_view(mem_mib=(61440, 81920), pods=(share("a", 40960), share("b", 20480)))
    strip = strips(make_node_view(cards=[card]))[0]
    assert [(piece.x, piece.w) for piece in strip.pieces] == [("0.0%", "50.0%"), ("50.0%", "25.0%")]
    assert (strip.measure, strip.free) == ("memory", 20480)


def test_an_instance_names_the_pod_that_has_it() -> None:
    """NV-71: the reservations say which; two of one size are told apart."""
    slices = (
        SliceView("3g.40gb", 0, 4, "vision/big"),
        SliceView("1g.10gb", 6, 1, "vision/one"),
        SliceView("1g.10gb", 5, 1, "vision/two"),
    )
    assert pieces(slices=slices, slice_total=8) == [
        ("3g.40gb: big", "vision/big"),
        ("1g.10gb: one", "vision/one"),
        ("1g.10gb: two", "vision/two"),
    ]


def test_an_instance_that_nobody_has_is_free() -> None:
    assert pieces(slices=(SliceView("1g.10gb", 0, 1),), slice_total=8) == [("1g.10gb", "")]


def test_a_part_is_named_beside_its_pod() -> None:
    pods = (replace(share("serve", 40960), parts=("vir05_1c_16g",)),)
    assert pieces(pods=pods) == [("serve (vir05_1c_16g)", "vision/serve")]
