"""Biren. Rules BR-1 to BR-8, cases BR-E01 to BR-E15; how a count is read: ``tests/core/test_counted.py``."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import CardRequest, CardUsage
from scheduler_app.devices import biren
from tests.factories import make_card, make_container, make_context, make_node, make_pod

(BIREN,) = biren.build(biren.Config(resource_count_name="birentech.com/gpu"))
NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)
HANDSHAKE = "hami.io/node-handshake-biren"
REGISTER = "hami.io/node-biren-register"


def card(id: str = "a", **values: object) -> CardUsage:
    return make_card(id=id, vendor="Biren", **{"shares": 2, **values})  # type: ignore[arg-type]  # test data


def fit(
    *cards: CardUsage, number: int = 1, policy: str = "spread", annotations: dict[str, str] | None = None
) -> tuple[list[str], str]:
    """Return the ids of the cards taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}), policy=policy)
    result = BIREN.fit(context, cards, CardRequest(number, biren.KEY, 0, 100))
    return [str(taken.card) for taken in result.allocations], result.reason


def test_asks_for_whole_numbers_of_cards() -> None:
    """BR-6."""
    asked = BIREN.request(make_container(limits={"birentech.com/gpu": 2}))
    assert asked == CardRequest(2, biren.KEY, 0, 100, 0)


def test_nothing_is_asked_where_no_resource_is_configured() -> None:
    """DCF-7: a backend without a name never sees a request."""
    (unnamed,) = biren.build(biren.Config())
    assert unnamed.request(make_container(limits={"birentech.com/gpu": 2})) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, f"annos not found {REGISTER}"), ("[]", "no gpu found on node"), (":", "not JSON")],
)
def test_a_node_without_cards_says_why(text: str | None, message: str) -> None:
    """BR-E06."""
    node = make_node(annotations={} if text is None else {REGISTER: text})
    with pytest.raises(CodecError, match=message):
        BIREN.node_cards(node)


@pytest.mark.parametrize(
    ("stamp", "allocatable", "healthy", "needs_update"),
    [
        (None, "0", True, True),
        ("Requesting_2026-01-02 11:58:59", "0", False, False),
        ("Requesting_2026-01-02 11:58:59", "1", True, False),
    ],
)
def test_health_follows_the_handshake(
    stamp: str | None, allocatable: str, healthy: bool, needs_update: bool
) -> None:
    """BR-4, BR-E07."""
    annotations = {} if stamp is None else {HANDSHAKE: stamp}
    node = make_node(annotations=annotations, allocatable={"birentech.com/gpu": allocatable})
    health = BIREN.health(node, now=NOON)
    assert (health.healthy, health.needs_update) == (healthy, needs_update)
    assert health.stamp is (stamp is None)


def test_cleaning_up_removes_the_handshake() -> None:
    """BR-4."""
    assert BIREN.cleanup_keys == (HANDSHAKE,)


def test_the_last_card_goes_first() -> None:
    """BR-E08."""
    assert fit(card("a"), card("b")) == (["b"], "")
    assert fit(card("a"), card("b"), number=2) == (["b", "a"], "")


@pytest.mark.parametrize(
    ("busy", "word"),
    [
        (card(healthy=False), "CardNotHealth"),
        (card(used=(2, 0, 0)), "CardTimeSlicingExhausted"),
    ],
)
def test_a_card_is_refused_for_a_reason(busy: CardUsage, word: str) -> None:
    """BR-E10."""
    assert fit(busy) == ([], f"1/1 {word}")


@pytest.mark.parametrize(
    ("key", "value", "taken"),
    [
        ("birentech.com/use-gpuuuid", "b", []),
        ("birentech.com/nouse-gpuuuid", "a", []),
        ("birentech.com/use-gpuuuid", " a ,x", ["a"]),
        ("birentech.com/nouse-biren", "Biren", ["a"]),
        ("birentech.com/use-biren", "other", ["a"]),
    ],
)
def test_id_lists_are_obeyed_and_type_lists_are_not(key: str, value: str, taken: list[str]) -> None:
    """BR-2, BR-E10, BR-E15."""
    assert fit(card("a"), annotations={key: value}) == (taken, "" if taken else "1/1 CardUuidMismatch")


def test_a_pod_may_want_no_neighbours() -> None:
    """BR-E11."""
    assert fit(card(used=(1, 0, 0)), policy="binpack, mutex") == ([], "1/1 ExclusiveDeviceAllocateConflict")
    assert fit(card(used=(1, 0, 0))) == (["a"], "")


def test_too_few_cards_are_counted() -> None:
    """BR-E12."""
    assert fit(card("a"), card("b"), number=3) == ([], "2/2 AllocatedCardsInsufficientRequest")


def test_both_texts_are_written() -> None:
    """BR-E13: the empty container keeps its place."""
    (taken,) = BIREN.fit(make_context(), [card("7-1")], CardRequest(1, biren.KEY, 0, 100)).allocations
    assert BIREN.annotations(make_pod(), ((), (taken,)), now_ns=1) == {
        "hami.io/Biren-devices-allocated": ";7-1,Biren,0,0:;",
        "hami.io/Biren-devices-to-allocate": ";7-1,Biren,0,0:;",
    }


@given(
    shares=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6),
    number=st.integers(1, 4),
    policy=st.sampled_from(["spread", "mutex"]),
)
def test_shares_are_never_oversold(shares: list[tuple[int, int]], number: int, policy: str) -> None:
    """BR-7: each card at most once, each with a share left; a refusal takes nothing."""
    cards = [card(str(n), shares=have, used=(used, 0, 0)) for n, (have, used) in enumerate(shares)]
    before = list(cards)
    taken, reason = fit(*cards, number=number, policy=policy)
    assert cards == before
    assert len(taken) == len(set(taken)) == (0 if reason or not cards else number)
    for one in cards:
        if one.id in taken:
            assert one.shares_used < one.card.shares
