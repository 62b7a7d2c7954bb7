"""The API server in memory: merge patches, a log of writes, and errors to inject."""

from typing import Any

import orjson
import pytest

from scheduler_app.conformance.api import Api, MemoryClient
from scheduler_app.core.errors import HamiError

NODE = {"kind": "Node", "metadata": {"name": "n1", "annotations": {"a": "1", "b": "2"}}}
PATH = "/api/v1/nodes/n1"


@pytest.fixture
def api() -> Api:
    made = Api()
    made.put(NODE)
    return made


def patch(api: Api, annotations: dict[str, str | None]) -> Any:
    body = orjson.dumps({"metadata": {"annotations": annotations}})
    return orjson.loads(MemoryClient(api).send("PATCH", path=PATH, body=body, content_type="merge"))


def test_a_patch_sets_and_removes_members_and_leaves_the_others(api: Api) -> None:
    assert patch(api, {"a": None, "c": "3"})["metadata"]["annotations"] == {"b": "2", "c": "3"}


def test_an_object_that_was_given_is_not_changed_by_a_patch(api: Api) -> None:
    patch(api, {"a": None})
    assert NODE["metadata"]["annotations"] == {"a": "1", "b": "2"}  # type: ignore[index]


def test_every_write_is_logged_and_a_refused_one_is_marked(api: Api) -> None:
    api.set_faults([{"verb": "patch", "resource": "nodes", "code": 500, "message": "no", "times": 1}])
    with pytest.raises(HamiError):
        patch(api, {"a": "2"})
    patch(api, {"a": "3"})
    assert [entry.get("failed", False) for entry in api.writes] == [True, False]
    assert api.of("nodes")[0]["metadata"]["annotations"]["a"] == "3"


@pytest.mark.parametrize(
    ("limits", "struck"),
    [
        ({}, [True, True, True]),
        ({"times": 2}, [True, True, False]),
        ({"skip": 1, "times": 1}, [False, True, False]),
        ({"name": "other"}, [False, False, False]),
        ({"contains": '"a"'}, [True, True, True]),
        ({"contains": '"z"'}, [False, False, False]),
        ({"subresource": "binding"}, [False, False, False]),
    ],
)
def test_a_fault_strikes_what_matches_it_as_often_as_it_says(
    api: Api, limits: dict[str, Any], struck: list[bool]
) -> None:
    api.set_faults([{"verb": "patch", "resource": "nodes", "code": 409, "message": "no", **limits}])
    assert [fails(api) for _ in struck] == struck


def fails(api: Api) -> bool:
    try:
        patch(api, {"a": "2"})
    except HamiError:
        return True
    return False


def test_what_is_not_there_is_said_by_name() -> None:
    with pytest.raises(HamiError, match='nodes "n1" not found'):
        MemoryClient(Api()).get(PATH)
