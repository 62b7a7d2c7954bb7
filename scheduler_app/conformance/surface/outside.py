"""What went to the API in the form of the recording: writes, and events apart from them."""

import copy
from collections.abc import Collection, Iterable
from typing import Any

Json = dict[str, Any]


def writes(log: Iterable[Json]) -> list[Json]:
    """Return everything but events; resource versions are masked."""
    return [_masked(entry) for entry in log if entry["resource"] != "events"]


def events(log: Iterable[Json], *, without: Collection[str]) -> list[Json]:
    """Return the events written, except those with a reason in ``without``.

    Each entry has the reason of its event under ``of``, repeats too, which themselves do not say it.
    """
    found = [entry for entry in log if entry["resource"] == "events"]
    return [_event(entry) for entry in found if entry["of"] not in without]


def merged(found: Iterable[Json]) -> dict[str, Json]:
    """Return what the writes of one pass to each object come to, refused ones apart (rule 5)."""
    result: dict[str, Json] = {}
    for entry in found:
        names = (
            str(entry.get(name, ""))
            for name in ("verb", "resource", "namespace", "name", "patch_type", "failed")
        )
        place = result.setdefault(" ".join(names), {})
        _merge(place, entry["body"])
    return result


def _merge(target: Json, more: Json) -> None:
    for name, value in more.items():
        if isinstance(value, dict) and isinstance(target.get(name), dict):
            _merge(target[name], value)
        else:
            target[name] = copy.deepcopy(value)


def _masked(entry: Json) -> Json:
    body = entry["body"]
    meta = body.get("metadata") or {}
    if "resourceVersion" not in meta:
        return entry
    return {**entry, "body": {**body, "metadata": {**meta, "resourceVersion": "<rv>"}}}


def _event(entry: Json) -> Json:
    body = entry["body"]
    if entry["verb"] == "patch":
        return {"verb": "patch", "count": body["count"]}
    return {
        "verb": "create",
        "type": body["type"],
        "reason": body["reason"],
        "message": body["message"],
        "namespace": body["metadata"]["namespace"],
        "component": body["source"]["component"],
        "reporting_component": body["reportingComponent"],
        "object": {"namespace": "", **body["involvedObject"]},
        "count": body["count"],
    }
