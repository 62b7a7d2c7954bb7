"""Comparing admission: the object after the patch, without the noise that the reference adds (Q-38)."""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_app.conformance.compare import difference
from scheduler_app.conformance.surface import jsonpatch
from scheduler_app.conformance.surface.canonical import amount

Json = dict[str, Any]
AMOUNTS = frozenset(("limits", "requests", "overhead", "sizeLimit", "divisor"))
DECODING = 400
PATCH_MEMBERS = ("patch", "patchType", "warnings")


def review_differs(expected: Json, actual: Json) -> str | None:
    """Compare two reviews without patch and warnings; texts of decoding errors need only be there."""
    found = [_without_patch(review) for review in (expected, actual)]
    statuses = [review.get("response", {}).get("status", {}) for review in found]
    if statuses[0].get("code") == DECODING and statuses[0].get("message") and statuses[1].get("message"):
        for status in statuses:
            status["message"] = "<decoding error>"
    return difference(found[0], found[1], "review")


def object_differs(expected: Json, received: Any, actual: Any) -> str | None:
    """Compare the patched objects; ``received`` is what was sent, ``actual`` what our patch makes of it."""
    wanted = expected.get("object_after")
    if wanted is None:
        wanted = jsonpatch.applied(received, expected.get("patch", ()))
    removed = [jsonpatch.pointer(op["path"]) for op in expected.get("patch", ()) if op["op"] == "remove"]
    ours = _without(actual, received, removed)
    return difference(tidied(wanted), tidied(ours), "object_after")


def tidied(value: Any, *, is_amount: bool = False) -> Any:
    """Return ``value`` without empty members, amounts as numbers."""
    if isinstance(value, Mapping):
        items = ((k, tidied(v, is_amount=is_amount or k in AMOUNTS)) for k, v in value.items())
        return {key: item for key, item in items if not _is_empty(item)}
    if isinstance(value, list):
        return [tidied(item, is_amount=is_amount) for item in value]
    if is_amount and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        found = amount(str(value))
        return value if found is None else f"amount {found.normalize()}"
    return value


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, dict, list)) and not value)


def _without_patch(review: Json) -> Json:
    response = {key: item for key, item in review.get("response", {}).items() if key not in PATCH_MEMBERS}
    if isinstance(response.get("status"), dict):
        response["status"] = dict(response["status"])
    return {**review, "response": response}


def _without(ours: Any, received: Any, paths: Sequence[Sequence[str]]) -> Any:
    """Return ``ours`` without the members that the reference dropped and we kept as they came."""
    for path in paths:
        if _at(ours, path) is not None and _at(ours, path) == _at(received, path):
            operation = {"op": "remove", "path": "".join("/" + _escaped(part) for part in path)}
            ours = jsonpatch.applied(ours, [operation])
    return ours


def _at(value: Any, path: Sequence[str]) -> Any:
    for part in path:
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
