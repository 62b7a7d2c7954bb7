"""YAML read by the type of the field that takes it, not by how a scalar looks (DCF-4).

``deviceconfig`` gives the dataclasses; this module reads node trees, so that a mistake is told with its line.
"""

import re
import types
import typing
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, get_args, get_origin, get_type_hints

import yaml

from scheduler_app.core.errors import ConfigError

TRUE_WORDS = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
FALSE_WORDS = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
NULL_WORDS = frozenset(("", "~", "null", "Null", "NULL"))
_DECIMAL = re.compile(r"[+-]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)([eE][+-]?\d+)?")
_SPECIAL = re.compile(r"[+-]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_BASES = ((re.compile(r"([+-]?)0x([0-9a-fA-F_]+)"), 16), (re.compile(r"([+-]?)0b([01_]+)"), 2),
          (re.compile(r"([+-]?)0o([0-7_]+)"), 8), (re.compile(r"([+-]?)0([0-7_]+)"), 8))  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key that nothing reads: told as a warning, with the keys that exist."""

    path: str
    line: int
    valid: tuple[str, ...]

    def __str__(self) -> str:
        return f"line {self.line}: unknown key {self.path}; valid keys are {', '.join(self.valid)}"


def compose(text: str) -> yaml.Node | None:
    """Return the first document's node tree, None when there is none.

    Raises:
        ConfigError: the text is not YAML.
    """
    try:
        loader = yaml.SafeLoader(text)
        try:
            return loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.YAMLError as exc:  # raised by the loader's constructor too: it looks at the first characters
        raise ConfigError(f"not YAML: {exc}") from exc


def is_null(node: yaml.Node | None) -> bool:
    if node is None:
        return True
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in NULL_WORDS


def camel(name: str) -> str:
    """Return the YAML key of a field name: ``resource_count_name`` is ``resourceCountName``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def entries(node: yaml.Node, path: str) -> list[tuple[str, yaml.Node]]:
    """Return a mapping's pairs in order, merge keys (``<<``) first and repeated keys kept.

    Raises:
        ConfigError: it is no mapping.
    """
    if not isinstance(node, yaml.MappingNode):
        raise wrong(node, path, "a mapping")
    merged: list[tuple[str, yaml.Node]] = []
    own: list[tuple[str, yaml.Node]] = []
    for key, value in node.value:
        if key.value == "<<":
            sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for source in reversed(sources):
                merged.extend(entries(source, path))
        else:
            own.append((str(key.value), value))
    return merged + own


def wrong(node: yaml.Node, path: str, expected: str) -> ConfigError:
    return ConfigError(f"line {line_of(node)}: {path}: expected {expected}, got {_shown(node)}")


def line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value)
    return "a list" if isinstance(node, yaml.SequenceNode) else "a mapping"


class FieldReader:
    """Reads dataclasses from node trees and collects the keys that nothing reads."""

    def __init__(self) -> None:
        self.unknown: list[UnknownKey] = []

    def record(self, kind: type[Any], node: yaml.Node, path: str, base: Any = None) -> Any:
        """Return a ``kind``, starting from ``base``: a repeated section is merged field by field (DCF-4)."""
        keys = {key_of(item): item for item in fields(kind)}
        hints = get_type_hints(kind)
        values = {item.name: getattr(base, item.name) for item in fields(kind)} if base is not None else {}
        for key, value in entries(node, path):
            item = keys.get(key)
            if item is None:
                self.unknown.append(UnknownKey(f"{path}.{key}", line_of(value), tuple(sorted(keys))))
            else:
                values[item.name] = self.value(hints[item.name], value, f"{path}.{key}", item.metadata)
        return kind(**values)

    def value(self, hint: Any, node: yaml.Node, path: str, metadata: Mapping[str, Any] | None = None) -> Any:
        """Return one field's value; null is the zero value, or None where the field is optional."""
        if get_origin(hint) is tuple:
            return self._list(get_args(hint)[0], node, path)
        inner, is_optional = _optional(hint)
        if is_null(node):
            return None if is_optional else inner()
        if inner not in EXPECTED:
            return self.record(inner, node, path)
        if not isinstance(node, yaml.ScalarNode):
            raise wrong(node, path, EXPECTED[inner])
        return _SCALARS[inner](node, path, metadata or {})

    def _list(self, hint: Any, node: yaml.Node, path: str) -> tuple[Any, ...]:
        if is_null(node):
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise wrong(node, path, "a list")
        return tuple(self.value(hint, item, f"{path}[{n}]") for n, item in enumerate(node.value))


def key_of(item: "Field[Any]") -> str:
    return str(item.metadata.get("key") or camel(item.name))


def _optional(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (types.UnionType, typing.Union):
        return next(arg for arg in get_args(hint) if arg is not type(None)), True
    return hint, False


def _text(node: yaml.ScalarNode, path: str, metadata: Mapping[str, Any]) -> str:
    return str(node.value)


def _boolean(node: yaml.ScalarNode, path: str, metadata: Mapping[str, Any]) -> bool:
    if node.style is not None or node.value not in TRUE_WORDS | FALSE_WORDS:
        raise wrong(node, path, EXPECTED[bool])
    return node.value in TRUE_WORDS


def _integer(node: yaml.ScalarNode, path: str, metadata: Mapping[str, Any]) -> int:
    bits, is_signed = metadata.get("bits", 32), metadata.get("signed", True)
    value = _whole(node.value) if node.style is None else None
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if value is None or not low <= value <= high:
        raise wrong(node, path, f"a whole number from {low} to {high}")
    return value


def _number(node: yaml.ScalarNode, path: str, metadata: Mapping[str, Any]) -> float:
    plain = str(node.value)
    if node.style is None and _SPECIAL.fullmatch(plain):
        return float(plain.lower().replace(".", ""))
    whole = _whole(plain) if node.style is None else None
    if node.style is not None or (whole is None and not _DECIMAL.fullmatch(plain)):
        raise wrong(node, path, EXPECTED[float])
    return float(plain.replace("_", "")) if _DECIMAL.fullmatch(plain) else float(whole or 0)


def _whole(plain: str) -> int | None:
    """Return the integer of an unquoted scalar; fractions are cut, as the reference does."""
    for form, base in _BASES:
        match = form.fullmatch(plain)
        if match and match[2].strip("_"):
            value = int(match[2].replace("_", ""), base)
            return -value if match[1] == "-" else value
    if not _DECIMAL.fullmatch(plain):
        return None
    digits = plain.replace("_", "")
    try:
        return int(digits)
    except ValueError:
        value_ = float(digits)
        return int(value_) if abs(value_) < 1e30 else None


EXPECTED: Mapping[Any, str] = {
    str: "a text",
    bool: "true or false (unquoted)",
    int: "a whole number",
    float: "a number",
}
_SCALARS: Mapping[Any, Any] = {str: _text, bool: _boolean, int: _integer, float: _number}
