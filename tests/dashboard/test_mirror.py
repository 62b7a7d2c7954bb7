"""The mirror follows the leader's publications, and the same state is reached by every way there."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.live.mirror import Mirror
from dashboard.picture.digest import Digest, total_of
from dashboard.picture.model import Picture
from scheduler_app.core.publication import Publication
from tests.dashboard.clusters import Cluster, make_card_view, make_node_view, make_pending, make_publication

NOW = 1_793_582_531_250


def mirror_of(*publications: Publication) -> Mirror:
    mirror = Mirror()
    for publication in publications:
        mirror.apply(publication, now_ms=NOW)
    return mirror


def cells(picture: Picture) -> dict[str, tuple[int, ...]]:
    """Return each GPU's columns by its id, whatever its index is."""
    topology, columns = picture.topology, picture.columns
    ends = (*topology.first, len(topology.ids))
    return {
        topology.ids[gpu]: (
            columns.mem_used[gpu],
            columns.cores_used[gpu],
            columns.shares_used[gpu],
            columns.state[gpu],
        )
        for node, name in enumerate(topology.names)
        if name is not None
        for gpu in range(ends[node], ends[node + 1])
    }


def test_nothing_is_known_before_the_first_picture() -> None:
    assert not Mirror().picture.is_known


def test_a_change_before_any_picture_is_a_gap() -> None:
    assert Mirror().apply(make_publication(is_whole=False), now_ms=NOW).verdict == "gap"


def test_a_change_that_does_not_follow_on_is_a_gap_and_changes_nothing() -> None:
    mirror = mirror_of(make_publication())
    late = make_publication(base=5, revision=6, is_whole=False, nodes=(make_node_view(name="new"),))
    assert mirror.apply(late, now_ms=NOW).verdict == "gap"
    assert list(mirror.picture.nodes) == ["gpu-0001"]


def test_an_older_epoch_is_a_deposed_leader_and_is_left_out() -> None:
    mirror = mirror_of(make_publication(epoch="new", at_ms=NOW))
    assert mirror.apply(make_publication(epoch="old", at_ms=NOW - 1), now_ms=NOW).verdict == "old"
    assert mirror.picture.epoch == "new"


def test_a_new_epoch_makes_everything_before_void() -> None:
    mirror = mirror_of(make_publication())
    node = make_node_view(name="other")
    change = mirror.apply(make_publication(epoch="next", at_ms=NOW + 1, nodes=(node,)), now_ms=NOW)
    assert change.verdict == "renewed"
    assert list(mirror.picture.nodes) == ["other"]
    assert mirror.picture.topology.first == (0,)


def test_only_cells_that_changed_are_named() -> None:
    first = make_node_view(cards=[make_card_view(id="a"), make_card_view(id="b")])
    moved = replace(first, cards=(first.cards[0], make_card_view(id="b", mem_mib=(1024, 81920))))
    mirror = mirror_of(make_publication(nodes=(first,)))
    step = make_publication(base=1, revision=2, is_whole=False, nodes=(moved,))
    assert mirror.apply(step, now_ms=NOW).keys["fleet"] == {1}


def test_a_node_that_comes_back_with_other_cards_gets_new_indexes() -> None:
    mirror = mirror_of(make_publication(nodes=(make_node_view(),)))
    bigger = make_node_view(cards=[make_card_view(id=f"n{n}") for n in range(3)])
    change = mirror.apply(make_publication(base=1, revision=2, is_whole=False, nodes=(bigger,)), now_ms=NOW)
    assert change.topology is not None
    assert (change.topology.added, change.topology.gone) == ([1], [0])
    assert mirror.picture.topology.names == (None, "gpu-0001")


def test_trouble_of_a_node_hides_what_its_cards_say() -> None:
    card = make_card_view(healthy=False)
    silent = mirror_of(make_publication(nodes=(make_node_view(cards=[card], state="silent"),)))
    sick = mirror_of(make_publication(nodes=(make_node_view(cards=[card]),)))
    assert (list(silent.picture.columns.state), list(sick.picture.columns.state)) == ([2], [1])


def test_a_pod_that_leaves_is_named_in_its_namespace_too() -> None:
    mirror = mirror_of(make_publication(pending_put=(make_pending(),)))
    step = make_publication(base=1, revision=2, is_whole=False, nodes=(), pending_del=("u-1",))
    keys = mirror.apply(step, now_ms=NOW).keys
    assert (keys["pending"], keys["ns:vision"]) == ({"u-1"}, {"u-1"})
    assert not mirror.picture.pending


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), lost=st.sets(st.integers(0, 19)))
def test_any_losses_healed_by_whole_pictures_end_in_the_state(seed: int, lost: set[int]) -> None:
    """Console.md 7.5: a snapshot plus any subset of deltas, with resync, equals the state."""
    cluster = Cluster(seed=seed, now_ms=NOW)
    mirror = mirror_of(cluster.whole())
    for number in range(20):
        publication = cluster.step(NOW + number)
        if number in lost:
            continue
        if mirror.apply(publication, now_ms=NOW).verdict == "gap":
            mirror.apply(cluster.whole(), now_ms=NOW)
    mirror.apply(cluster.whole(), now_ms=NOW)
    picture, fresh = mirror.picture, mirror_of(cluster.whole()).picture
    assert (dict(picture.nodes), dict(picture.pending)) == (dict(fresh.nodes), dict(fresh.pending))
    assert cells(picture) == cells(fresh)
    assert picture.sums == fresh.sums
    digests = (Digest.of(node) for node in picture.nodes.values())
    assert total_of(digest.total for digest in digests) == total_of(picture.sums.values())
