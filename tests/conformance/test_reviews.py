"""Comparing admission by what a patch makes of the pod (Q-38)."""

from typing import Any

import pytest

from scheduler_app.conformance.surface import jsonpatch
from scheduler_app.conformance.surface.reviews import object_differs, tidied


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([{"op": "add", "path": "/b", "value": 1}], {"a": ["x"], "b": 1}),
        ([{"op": "add", "path": "/a/-", "value": "y"}], {"a": ["x", "y"]}),
        ([{"op": "add", "path": "/a/0", "value": "y"}], {"a": ["y", "x"]}),
        ([{"op": "replace", "path": "/a/0", "value": "y"}], {"a": ["y"]}),
        ([{"op": "remove", "path": "/a"}], {}),
        ([{"op": "add", "path": "/m~1n~0", "value": 1}], {"a": ["x"], "m/n~": 1}),
    ],
)
def test_patches_are_applied_as_the_api_server_does(operations: list[Any], expected: Any) -> None:
    assert jsonpatch.applied({"a": ["x"]}, operations) == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/b", "value": 1},
        {"op": "remove", "path": "/b"},
        {"op": "add", "path": "/b/c", "value": 1},
        {"op": "move", "path": "/b", "from": "/a"},
    ],
)
def test_a_patch_that_the_api_server_would_refuse_is_an_error(operation: dict[str, Any]) -> None:
    with pytest.raises((KeyError, IndexError, ValueError)):
        jsonpatch.applied({"a": ["x"]}, [operation])


def test_empty_members_say_nothing_and_amounts_are_numbers() -> None:
    left = {"status": {}, "spec": {"resources": {"limits": {"x": "1000m"}}, "name": ""}}
    assert tidied(left) == tidied({"spec": {"resources": {"limits": {"x": 1}}}})
    assert tidied(left) != tidied({"spec": {"resources": {"limits": {"x": 2}}}})


def test_texts_that_look_like_amounts_elsewhere_are_texts() -> None:
    assert tidied({"env": {"value": "1000m"}}) != tidied({"env": {"value": "1"}})


def test_what_only_the_reference_drops_may_stay_but_nothing_else_may_differ() -> None:
    received = {"spec": {"unknown": 1, "name": "a"}}
    expected = {"patch": [{"op": "remove", "path": "/spec/unknown"}], "object_after": {"spec": {"name": "a"}}}
    assert object_differs(expected, received, received) is None
    assert object_differs(expected, received, {"spec": {"unknown": 2, "name": "a"}}) is not None
    assert object_differs(expected, received, {"spec": {"unknown": 1, "name": "b"}}) is not None
