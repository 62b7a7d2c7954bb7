"""Vastai: dies of one physical card go together. Rules VS-1 to VS-31, cases VS-E01 to VS-E21."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.float32 import f32
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, Custom
from scheduler_app.devices import vastai
from tests.factories import make_card, make_container, make_context, make_node, make_pod

(VASTAI,) = vastai.build(vastai.Config(resource_count_name="vastaitech.com/va"))
CONFLICT = "ExclusiveDeviceAllocateConflict"


def card(text: str, **values: object) -> CardUsage:
    """Return ``"a@1"``, die a of card 1, or ``"a"``, a card of its own; one share."""
    id, _, place = text.partition("@")
    custom = {"AIC": place, "DeviceStrategy": "die"} if place else {}
    return make_card(id=id, vendor="Vastai", **{"shares": 1, "custom": custom, **values})  # type: ignore[arg-type]  # test data


def cards(text: str) -> list[CardUsage]:
    return [card(item) for item in text.split()]


def fit(given: Sequence[CardUsage], number: int = 1, policy: str = "spread") -> tuple[str, str]:
    """Return the ids of what was taken, in order, and the reason text."""
    result = VASTAI.fit(make_context(policy=policy), given, CardRequest(number, vastai.KEY, 0, 100))
    return " ".join(taken.card for taken in result.allocations), result.reason


def test_asks_for_whole_numbers_of_cards() -> None:
    """VS-E01."""
    container = make_container(requests={"vastaitech.com/va": 1})
    assert VASTAI.request(container) == CardRequest(1, vastai.KEY, 0, 100, 0)


def test_what_a_die_says_of_itself_is_kept() -> None:
    """VS-E02."""
    text = '[{"id":"a","devcore":7,"custominfo":{"AIC":"1","DeviceStrategy":"die"}}]'
    (die,) = VASTAI.node_cards(make_node(annotations={"hami.io/node-va-register": text}))
    assert (die.cores, die.custom) == (100, {"AIC": "1", "DeviceStrategy": "die"})


@pytest.mark.parametrize(
    ("case", "given", "number", "taken"),
    [
        ("VS-E03", "a b", 1, "b"),
        ("VS-E04", "a@1 b@1 c@2", 1, "c"),
        ("VS-E04", "a@1 b@1 c@2", 2, "b a"),
        ("VS-E05", "a@1 b@2", 2, "b a"),
        ("VS-E06", "a@1 b@1 c@1 d@1 e@2 f@2", 2, "d c"),
        ("VS-E07", "a@1 b@1 c@1 d@2 e@2 f@3", 5, "c b a e d"),
        ("VS-E08", "a@1 b@1 c@2 d@2", 2, "d c"),
        ("VS-E11", "a b@1 c@2", 2, "c b"),
        ("VS-E12", "a@1 b c", 2, "a"),
    ],
)
def test_dies_come_from_the_fullest_card_first(case: str, given: str, number: int, taken: str) -> None:
    """VS-20 to VS-26; of equal groups, where the reference is random, the one visited first."""
    assert fit(cards(given), number) == (taken, ""), case


@pytest.mark.parametrize(("given", "number"), [("a b", 3), ("a@1 b@1", 3)])
def test_too_few_cards_are_counted(given: str, number: int) -> None:
    """VS-E03, VS-E07."""
    assert fit(cards(given), number) == ("", "2/2 AllocatedCardsInsufficientRequest")


def test_dies_that_do_not_say_where_they_sit_are_left_out() -> None:
    """VS-27, VS-E09, VS-E10: fewer than asked, even none, is still success."""
    nowhere: Custom = {"DeviceStrategy": "die"}
    given = [card("a@1"), card("b", custom=nowhere), card("c@2"), card("d", custom=nowhere)]
    assert fit(given, 3) == ("c a", "")
    numbered: Custom = {"DeviceStrategy": "die", "AIC": 1}
    assert fit([card(id, custom=numbered) for id in "abc"], 2) == ("", "")


def test_the_first_candidate_speaks_for_all() -> None:
    """VS-20, VS-E13, VS-E14: even an unhealthy one; and only the exact word counts."""
    given = [card("a@1", healthy=False), *cards("b@1 c@2 d@2")]
    assert fit(given, 2) == ("d c", "")
    given = [card("a", custom={"AIC": "1", "DeviceStrategy": "Die"}), *cards("b@1 c@2")]
    assert fit(given, 2) == ("c b", "")


def test_a_busy_sibling_is_a_neighbour() -> None:
    """VS-23, VS-E15."""
    busy = card("a@1", shares=2, used=(1, 0, 0))
    assert fit([busy, *cards("b@1 c@2")], policy="mutex") == ("c", "")
    assert fit([busy, card("b@1")], policy="mutex") == ("", f"2/2 {CONFLICT}")
    assert fit([busy, card("b@1")]) == ("b", "")


def test_siblings_that_were_refused_count_as_busy_too() -> None:
    """VS-E16."""
    full = card("a@1", used=(1, 0, 0))
    expected = f"1/2 CardTimeSlicingExhausted, 1/2 {CONFLICT}"
    assert fit([full, card("b@1")], policy="mutex") == ("", expected)
    broken = card("a@1", used=(1, 0, 0), healthy=False)
    assert fit([broken, card("b@1")], policy="mutex") == ("", f"1/2 CardNotHealth, 1/2 {CONFLICT}")


def test_only_dies_have_siblings() -> None:
    """VS-E17."""
    whole: Custom = {"AIC": "1"}
    given = [card("a", custom=whole, shares=2, used=(1, 0, 0)), card("b", custom=whole)]
    assert fit(given, policy="mutex") == ("b", "")


DIE = "die"


def score(*containers: Sequence[Custom]) -> float:
    """Return the node score of containers, each a list of its dies' custom information."""
    held = tuple(
        tuple(Allocation(CardId("x"), "Vastai", 0, 0, custom=custom) for custom in container)
        for container in containers
    )
    return VASTAI.score_node(ScoreInput(make_node(), make_pod(), held, (), "binpack"))


def on(*places: object, **more: object) -> list[Custom]:
    return [{"AIC": place, "DeviceStrategy": DIE, **more} for place in places]


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([on("1")], 1.0),
        ([on("1", "1", "2")], f32(2 / 3)),
        ([on("1", "2"), on("1"), []], 1.5),
        ([], 0.0),
        ([on("1"), [{}]], 0.0),
        ([on("1"), [{"DeviceStrategy": "die"}]], 0.0),
        ([on("1"), on("1", DeviceStrategy="card")], 0.0),
        ([[{"AIC": "1"}, {"AIC": "2"}]], 0.5),
        ([on(1, "1")], 1.0),
        ([on("1", DeviceStrategy=7)], 1.0),
    ],
)
def test_a_node_scores_by_how_close_the_dies_are(containers: list[list[Custom]], expected: float) -> None:
    """VS-30, VS-E18, VS-E19, VS-E20."""
    assert score(*containers) == expected


@given(
    places=st.lists(st.sampled_from(["1", "2", "3"]), max_size=8),
    used=st.lists(st.integers(0, 1), min_size=8, max_size=8),
    number=st.integers(1, 5),
    policy=st.sampled_from(["spread", "mutex"]),
)
def test_dies_are_given_once_and_all_or_none(
    places: list[str], used: list[int], number: int, policy: str
) -> None:
    """VS-24 to VS-28: where each says its place, exactly as many free dies as asked, or none and a reason."""
    given = [card(f"{n}@{place}", used=(used[n], 0, 0)) for n, place in enumerate(places)]
    taken, reason = fit(given, number, policy)
    free = {die.id for die in given if not die.shares_used}
    ids = taken.split()
    assert set(ids) <= free
    assert len(set(ids)) == len(ids)
    assert len(ids) in ({number} if not reason and given else {0})
