from typing import Any

import pytest

from simcluster.patches import PatchError, apply_json_patch, merge
from simcluster.strategic import strategic_merge


def test_a_merge_patch_removes_what_is_null() -> None:
    assert merge({"a": 1, "b": {"c": 1, "d": 2}}, {"a": None, "b": {"c": 3}}) == {"b": {"c": 3, "d": 2}}
    assert merge({}, {"metadata": {"annotations": {"x": None, "y": "1"}}}) == {
        "metadata": {"annotations": {"y": "1"}}
    }


def test_a_json_patch_knows_six_operations() -> None:
    document = {"a": {"b": [1, 2]}, "c": "x"}
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": "/c", "value": "x"},
        {"op": "add", "path": "/a/b/1", "value": 9},
        {"op": "add", "path": "/a/b/-", "value": 3},
        {"op": "remove", "path": "/a/b/0"},
        {"op": "replace", "path": "/c", "value": "y"},
        {"op": "copy", "from": "/c", "path": "/d"},
        {"op": "move", "from": "/d", "path": "/e~1f"},
    ]
    assert apply_json_patch(document, operations) == {"a": {"b": [9, 2, 3]}, "c": "y", "e/f": "y"}
    assert document == {"a": {"b": [1, 2]}, "c": "x"}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/missing"},
        {"op": "add", "path": "/a/b", "value": 1},
        {"op": "test", "path": "/c", "value": "y"},
        {"op": "replace", "path": "/list/7", "value": 1},
        {"op": "dance", "path": "/c"},
        {"path": "/c"},
    ],
)
def test_a_json_patch_that_does_not_apply_is_an_error(operation: dict[str, Any]) -> None:
    with pytest.raises(PatchError):
        apply_json_patch({"c": "x", "list": []}, [operation])


def test_lists_of_objects_are_merged_by_their_key() -> None:
    """K4.5-6."""
    target = {
        "containers": [{"name": "a", "image": "1"}, {"name": "b", "env": [{"name": "X", "value": "1"}]}]
    }
    patch = {"containers": [{"name": "b", "env": [{"name": "Y", "value": "2"}]}, {"name": "c"}]}
    merged = strategic_merge(target, patch)
    assert [container["name"] for container in merged["containers"]] == ["a", "b", "c"]
    assert [row["name"] for row in merged["containers"][1]["env"]] == ["X", "Y"]


def test_tolerations_and_taints_are_atomic() -> None:
    assert strategic_merge({"taints": [{"key": "a"}]}, {"taints": [{"key": "b"}]}) == {
        "taints": [{"key": "b"}]
    }


def test_directives_delete_replace_order_and_retain() -> None:
    target = {"containers": [{"name": "a"}, {"name": "b"}], "finalizers": ["x", "y"]}
    deleted = strategic_merge(target, {"containers": [{"name": "a", "$patch": "delete"}]})
    replaced = strategic_merge(target, {"containers": [{"$patch": "replace"}, {"name": "z"}]})
    ordered = strategic_merge(target, {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]})
    fewer = strategic_merge(target, {"$deleteFromPrimitiveList/finalizers": ["x"]})
    retained = strategic_merge({"a": 1, "b": 2}, {"$retainKeys": ["b", "c"], "c": 3})
    assert deleted["containers"] == [{"name": "b"}]
    assert replaced["containers"] == [{"name": "z"}]
    assert ordered["containers"] == [{"name": "b"}, {"name": "a"}]
    assert fewer["finalizers"] == ["y"]
    assert retained == {"b": 2, "c": 3}
    assert strategic_merge(target, {"finalizers": ["z", "x"]})["finalizers"] == ["x", "y", "z"]


def test_ports_are_keyed_by_what_they_have() -> None:
    container = strategic_merge(
        {"ports": [{"containerPort": 1}]}, {"ports": [{"containerPort": 1, "name": "n"}]}
    )
    service = strategic_merge({"ports": [{"port": 1}]}, {"ports": [{"port": 2}]})
    assert container["ports"] == [{"containerPort": 1, "name": "n"}]
    assert service["ports"] == [{"port": 1}, {"port": 2}]
