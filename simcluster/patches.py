"""JSON merge patch (RFC 7396) and JSON patch (RFC 6902)."""

import copy as copying
from typing import Any

from simcluster import errors
from simcluster.objects import Json

Operation = dict[str, Any]


def merge(target: Json, patch: Json) -> Json:
    """Return target with patch merged in; null removes a member."""
    merged = dict(target)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            below = merged.get(name)
            merged[name] = merge(below if isinstance(below, dict) else {}, value)
        else:
            merged[name] = value
    return merged


class PatchError(Exception):
    """A JSON patch that decodes but does not apply."""


def apply_json_patch(document: Json, operations: list[Operation]) -> Json:
    """Return document after all operations; PatchError when one does not apply."""
    result: Any = copying.deepcopy(document)
    for operation in operations:
        try:
            result = _apply(result, operation)
        except (KeyError, IndexError, ValueError, TypeError) as exc:
            name, path = operation.get("op"), operation.get("path")
            raise PatchError(f"{name} operation does not apply at path {path!r}: {exc}") from exc
    if not isinstance(result, dict):
        raise PatchError("the patched document is not an object")
    return result


def json_patch(document: Json, operations: list[Operation]) -> Json:
    """As ``apply_json_patch``, with the refusal a client gets: StatusError 422."""
    try:
        return apply_json_patch(document, operations)
    except PatchError as exc:
        raise errors.StatusError(422, "Invalid", f"the server rejected our request: {exc}") from exc


def _apply(document: Any, operation: Operation) -> Any:
    name, path = operation["op"], _pointer(operation["path"])
    match name:
        case "add":
            return _add(document, path, operation["value"])
        case "remove":
            return _remove(document, path)
        case "replace":
            _value(document, path)
            return _set(document, path, operation["value"])
        case "move":
            source = _pointer(operation["from"])
            value = _value(document, source)
            return _add(_remove(document, source), path, value)
        case "copy":
            return _add(document, path, copying.deepcopy(_value(document, _pointer(operation["from"]))))
        case "test":
            if _value(document, path) != operation["value"]:
                raise ValueError("testing value failed")
            return document
    raise ValueError(f"unexpected operation {name!r}")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"not a JSON pointer: {text!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _step(container: Any, part: str) -> Any:
    if isinstance(container, list):
        return container[_index(part, len(container) - 1)]
    return container[part]


def _index(part: str, largest: int) -> int:
    index = int(part)
    if not 0 <= index <= largest or part != str(index):
        raise IndexError(f"index {part} out of range")
    return index


def _value(document: Any, path: list[str]) -> Any:
    for part in path:
        document = _step(document, part)
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _value(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(last, len(parent)), value)
    else:
        parent[last] = value
    return document


def _set(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _value(document, path[:-1]), path[-1]
    parent[_index(last, len(parent) - 1) if isinstance(parent, list) else last] = value
    return document


def _remove(document: Any, path: list[str]) -> Any:
    parent, last = _value(document, path[:-1]), path[-1]
    del parent[_index(last, len(parent) - 1) if isinstance(parent, list) else last]
    return document
