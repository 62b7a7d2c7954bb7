"""Which cards go together. Rules KL-5, KL-8, KL-9, KL-11; cases KL-E04 to KL-E10, KL-E21 to KL-E26."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.devices.kunlun.topology import bubble, select

EIGHT = range(8)


def among(free: set[int], count: int) -> tuple[int, ...]:
    """Return the choice on a node of eight cards in their natural order."""
    return select(EIGHT, [index in free for index in EIGHT], count=count)


@pytest.mark.parametrize(
    ("free", "count", "taken"),
    [
        (set(EIGHT), 1, (0,)),
        (set(EIGHT), 2, (0, 1)),
        (set(EIGHT), 4, (0, 1, 2, 3)),
        (set(EIGHT), 8, tuple(EIGHT)),
        (set(EIGHT) - {5}, 1, (4,)),
        (set(EIGHT) - {5}, 2, (4, 6)),
        (set(EIGHT) - {5}, 8, ()),
        ({0, 1, 2, 3, 4, 5}, 1, (4,)),
        ({0}, 1, (0,)),
        (set(), 1, ()),
    ],
)
def test_a_wing_is_used_up_before_another_is_begun(
    free: set[int], count: int, taken: tuple[int, ...]
) -> None:
    """KL-E04 to KL-E06."""
    assert among(free, count) == taken


@pytest.mark.parametrize(
    ("free", "count", "taken"),
    [
        ({3, 7}, 2, (3, 7)),
        ({3, 6}, 2, ()),
        ({0, 1, 4, 5, 6}, 4, (0, 1, 4, 5)),
        ({0, 1, 2, 4, 5, 7}, 4, (0, 1, 4, 5)),
        ({0, 1, 3, 4, 5, 7}, 4, (0, 1, 4, 5)),
        ({0, 2, 4, 6}, 4, (0, 2, 4, 6)),
        ({0, 1, 2, 4, 6, 7}, 4, (0, 2, 4, 6)),
        ({0, 1, 2, 5, 6, 7}, 4, (1, 2, 5, 6)),
        ({0, 1, 4, 6}, 4, ()),
    ],
)
def test_linked_cards_are_taken_across_the_wings(free: set[int], count: int, taken: tuple[int, ...]) -> None:
    """KL-E07 to KL-E09."""
    assert among(free, count) == taken


@pytest.mark.parametrize("count", [0, 3, 5, 6, 7])
def test_other_numbers_of_cards_are_never_given(count: int) -> None:
    """KL-E10."""
    assert among(set(EIGHT), count) == ()


def test_wings_are_places_and_picking_stops_at_the_eighth() -> None:
    """KL-E25: the right wing counts four free cards, of which only two are within reach."""
    indices = [2, 4, 10, 11, 8, 9, 6, 7, 0, 1, 3, 5]
    passing = [index not in (10, 9, 6, 1, 5) for index in indices]
    assert select(indices, passing, count=4) == (8, 7)


def test_eight_of_nine_cards_are_numbered_from_zero() -> None:
    """KL-E26: the busy card 3 is among them."""
    assert select(range(9), [index != 3 for index in range(9)], count=8) == tuple(EIGHT)


@pytest.mark.parametrize(
    ("indices", "value"),
    [
        (set(), 1),
        ({0}, 3),
        ({0, 1}, 2),
        ({0, 1, 2, 3}, 1),
        ({4, 5, 6, 7}, 1),
        (set(EIGHT), 0),
        ({0, 1, 4}, 3),
    ],
)
def test_a_wing_that_is_full_tears_nothing(indices: set[int], value: int) -> None:
    """KL-11."""
    assert bubble(indices) == value


@given(st.sets(st.sampled_from(EIGHT)), st.sampled_from([1, 2, 4, 8]))
def test_only_free_cards_are_taken_and_none_twice(free: set[int], count: int) -> None:
    taken = among(free, count)
    assert set(taken) <= free
    assert len(taken) == len(set(taken))
    assert len(taken) in (0, count)
