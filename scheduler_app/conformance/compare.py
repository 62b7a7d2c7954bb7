"""The first difference between two JSON values, as one line a person can act on."""

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN = 300


def difference(expected: Any, actual: Any, at: str = "") -> str | None:
    """Return where two values differ and how, or None; 1 and 1.0 are equal, true and 1 are not."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _members(expected, actual, at)
    if _is_list(expected) and _is_list(actual):
        return _items(expected, actual, at)
    if isinstance(expected, bool) is isinstance(actual, bool) and expected == actual:
        return None
    return f"{at or 'value'}: expected {show(expected)}, got {show(actual)}"


def show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _members(expected: Mapping[str, Any], actual: Mapping[str, Any], at: str) -> str | None:
    for key in sorted(expected.keys() | actual.keys()):
        where = f"{at}.{key}" if at else key
        if key not in actual:
            return f"{where}: expected {show(expected[key])}, got nothing"
        if key not in expected:
            return f"{where}: expected nothing, got {show(actual[key])}"
        found = difference(expected[key], actual[key], where)
        if found:
            return found
    return None


def _items(expected: Sequence[Any], actual: Sequence[Any], at: str) -> str | None:
    for position, (left, right) in enumerate(zip(expected, actual, strict=False)):
        found = difference(left, right, f"{at}[{position}]")
        if found:
            return found
    if len(expected) != len(actual):
        return f"{at}: expected {len(expected)} items {show(expected)}, got {len(actual)} {show(actual)}"
    return None
