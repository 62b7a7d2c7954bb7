"""The packing strip tells what is known, and no more."""

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
    assert strip.free_mib == 20480


def test_an_instance_names_its_pod_where_only_one_can_be_meant() -> None:
    slices = (SliceView("3g.40gb", 0, 4), SliceView("1g.10gb", 6, 1), SliceView("1g.10gb", 5, 1))
    pods = (share("big", 40448), share("one", 9728), share("two", 9728))
    assert pieces(slices=slices, slice_total=8, pods=pods) == [
        ("3g.40gb: big", "vision/big"),
        ("1g.10gb", "vision/one / vision/two"),
        ("1g.10gb", "vision/one / vision/two"),
    ]


def test_a_pod_with_two_equal_instances_has_both() -> None:
    slices = (SliceView("2g.20gb", 0, 2), SliceView("2g.20gb", 2, 2))
    assert pieces(slices=slices, slice_total=8, pods=(share("pair", 39936, 2),)) == [
        ("2g.20gb: pair", "vision/pair"),
        ("2g.20gb: pair", "vision/pair"),
    ]


def test_an_instance_of_a_size_that_nobody_has_is_free() -> None:
    assert pieces(slices=(SliceView("1g.10gb", 0, 1),), slice_total=8) == [("1g.10gb", "")]
