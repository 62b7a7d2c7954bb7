"""A small RFC 6902 applier, so that tests see what the API server makes of a patch."""

import copy
from collections.abc import Sequence
from typing import Any


class PatchError(ValueError):
    """The patch does not apply: the API server would answer 500 even with failurePolicy Ignore (K2.2-3)."""


def apply(target: Any, operations: Sequence[dict[str, Any]]) -> Any:
    """Return ``target`` with add, replace and remove operations applied."""
    document = copy.deepcopy(target)
    for operation in operations:
        *parents, last = _parts(operation["path"])
        at = document
        for part in parents:
            at = _step(at, part)
        _change(at, last, operation)
    return document


def touched(operations: Sequence[dict[str, Any]]) -> set[str]:
    return {operation["path"] for operation in operations}


def _parts(path: str) -> list[str]:
    if not path.startswith("/"):
        raise PatchError(path)
    return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]


def _step(at: Any, part: str) -> Any:
    try:
        return at[int(part)] if isinstance(at, list) else at[part]
    except (KeyError, IndexError, TypeError) as exc:
        raise PatchError(f"no {part}") from exc


def _change(at: Any, last: str, operation: dict[str, Any]) -> None:
    if isinstance(at, list):
        if operation["op"] != "add" or last != "-":
            raise PatchError(f"{operation['op']} {last} of a list")
        at.append(operation["value"])
    elif operation["op"] == "remove":
        if last not in at:
            raise PatchError(f"remove {last}: absent")
        del at[last]
    elif operation["op"] == "replace" and last not in at:
        raise PatchError(f"replace {last}: absent")
    else:
        at[last] = operation["value"]
