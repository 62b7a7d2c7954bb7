"""JSON patch (RFC 6902), as far as admission patches use it."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any


def applied(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """Return ``document`` after ``add``, ``replace`` and ``remove`` operations; it is not changed.

    Raises:
        KeyError, IndexError: a path leads nowhere.
        ValueError: another operation.
    """
    result = copy.deepcopy(document)
    for operation in operations:
        *parents, last = pointer(operation["path"])
        target = result
        for part in parents:
            target = target[int(part)] if isinstance(target, list) else target[part]
        _apply(target, last, operation)
    return result


def pointer(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _apply(target: Any, last: str, operation: Mapping[str, Any]) -> None:
    kind, value = operation["op"], copy.deepcopy(operation.get("value"))
    if kind == "remove":
        del target[int(last) if isinstance(target, list) else last]
    elif kind not in ("add", "replace"):
        raise ValueError(f"{kind}: not an operation of an admission patch")
    elif not isinstance(target, list):
        if kind == "replace" and last not in target:
            raise KeyError(last)
        target[last] = value
    elif kind == "replace":
        target[int(last)] = value
    else:
        target.insert(len(target) if last == "-" else int(last), value)
