"""The reference's sort: deterministic, and not stable beyond twelve elements (Appendix A)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core import ordering

VECTORS = [  # keys in input order, and the input positions in sorted order
    ([0] * 13, "0,1,2,3,4,5,6,7,8,9,10,11,12"),
    ([1] + [0] * 15, "8,9,2,3,4,5,1,6,15,7,10,11,12,13,14,0"),
    ([0] * 7 + [1] + [0] * 8, "8,9,2,3,4,5,1,6,0,15,10,11,12,13,14,7"),
    ([0] * 15 + [1], "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"),
    ([0, 1] * 8, "8,10,2,14,4,12,6,0,9,7,1,11,5,13,3,15"),
    ([1] * 8 + [0] * 8, "12,10,15,14,13,11,8,9,1,7,6,5,0,4,3,2"),
    ([3, 1, 2, 0] * 4, "3,15,7,11,13,1,5,9,2,6,14,10,8,12,0,4"),
    (
        [2, 2, 2, 1, 1, 1, 0, 0, 0, 2, 2, 2, 1, 1, 1, 0, 0, 0, 2, 1],
        "6,17,16,15,8,7,5,13,4,19,3,14,12,10,11,0,2,1,18,9",
    ),
]


def positions(keys: list[int]) -> list[int]:
    items = list(enumerate(keys))
    ordering.sort(items, lambda left, right: left[1] < right[1])
    return [position for position, _ in items]


@pytest.mark.parametrize(("keys", "expected"), VECTORS)
def test_positions_are_the_references(keys: list[int], expected: str) -> None:
    """A-3."""
    assert ",".join(map(str, positions(keys))) == expected


@given(st.lists(st.integers(0, 3), max_size=12))
def test_up_to_twelve_elements_it_is_stable(keys: list[int]) -> None:
    """A-1."""
    assert positions(keys) == sorted(range(len(keys)), key=keys.__getitem__)


@given(st.lists(st.integers(0, 50), max_size=200))
def test_it_sorts(keys: list[int]) -> None:
    """A-2: whatever path through the algorithm is taken."""
    found = positions(keys)
    assert sorted(found) == list(range(len(keys)))
    assert [keys[position] for position in found] == sorted(keys)


@pytest.mark.parametrize("size", [13, 50, 120, 1000])
def test_sorted_and_reversed_input_is_sorted(size: int) -> None:
    """A-2, steps 5 and 6: the patterns it looks for."""
    assert positions(list(range(size))) == list(range(size))
    assert positions(list(range(size, 0, -1))) == list(range(size))[::-1]


def test_hostile_input_is_sorted_too() -> None:
    """A-2, step 2: when the pivots are bad too often, a heap takes over."""
    keys = [(n * 7919) % 64 if n % 3 else 64 for n in range(600)]
    assert [keys[position] for position in positions(keys)] == sorted(keys)
