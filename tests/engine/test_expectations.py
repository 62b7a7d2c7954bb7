"""What decisions expect of cards that do not say so yet (MXS-14); undone ones expect nothing."""

from scheduler_app.core.types import Allocation, Card, CardId, NodeName, PodUid, VendorKey
from scheduler_app.engine.cache import ClusterState
from tests.factories import make_node, make_pod

KEY = VendorKey("made-up")
NODE = NodeName("node-0")
CARD = CardId("card-0")


def state() -> ClusterState:
    made = ClusterState({})
    made.merge_node(make_node("node-0"), {KEY: (Card(CARD, KEY, "made-up", shares=10),)})
    return made


def assume(made: ClusterState, *, uid: str, expects: str) -> None:
    before = make_pod(name=uid, uid=uid)
    devices = {KEY: ((Allocation(CARD, KEY, 1, 1, expects=expects),),)}
    made.assume(before, before=before, node=NODE, devices=devices)


def expected(made: ClusterState) -> str | None:
    return made.everything()[NODE].cards[0].expected


def test_a_written_decision_leaves_its_expectation() -> None:
    made = state()
    assume(made, uid="a", expects="fixed-share")
    made.keep(make_pod(name="a", uid="a"))
    made.lose_pod(PodUid("a"))
    assert expected(made) == "fixed-share"


def test_an_undone_decision_puts_back_what_was_expected_before() -> None:
    made = state()
    assume(made, uid="a", expects="fixed-share")
    made.keep(make_pod(name="a", uid="a"))
    assume(made, uid="b", expects="best-effort")
    made.forget(make_pod(name="b", uid="b"))
    assert expected(made) == "fixed-share"


def test_an_undone_first_decision_leaves_nothing_expected() -> None:
    made = state()
    assume(made, uid="a", expects="fixed-share")
    made.forget(make_pod(name="a", uid="a"))
    assert expected(made) is None
