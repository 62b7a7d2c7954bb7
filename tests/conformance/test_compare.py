"""The first difference of two JSON values."""

from typing import Any

import pytest

from scheduler_app.conformance.compare import difference


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, None),
        ([1, 2], (1, 2), None),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b: expected 1, got 2"),
        ({"a": 1}, {}, "a: expected 1, got nothing"),
        ({}, {"a": None}, "a: expected nothing, got None"),
        ([1], [1, 2], ": expected 1 items [1], got 2 [1, 2]"),
        ({"a": True}, {"a": 1}, "a: expected True, got 1"),
        ({"a": ""}, {"a": None}, "a: expected '', got None"),
        ("1", 1, "value: expected '1', got 1"),
    ],
)
def test_what_differs_is_told_with_its_place(expected: Any, actual: Any, told: str | None) -> None:
    assert difference(expected, actual) == told


def test_of_several_differences_the_first_by_name_is_told() -> None:
    assert difference({"b": 1, "a": 1}, {"b": 2, "a": 2}) == "a: expected 1, got 2"
