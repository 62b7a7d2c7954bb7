"""Scalars as Go's parsers read them, since that is what every peer writes (core specification, section 0)."""

import re

TRUE_WORDS = frozenset(("1", "t", "T", "TRUE", "true", "True"))
FALSE_WORDS = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_INTEGER = re.compile(r"[+-]?[0-9]+")


def boolean(text: str) -> bool | None:
    """Return the value of a boolean text, or None when it is none."""
    if text in TRUE_WORDS:
        return True
    return False if text in FALSE_WORDS else None


def integer(text: str, *, bits: int = 64) -> int:
    """Return a base-10 integer of ``bits`` bits.

    Raises:
        ValueError: with the reference's words, ``parsing "x": invalid syntax`` or ``… value out of range``.
    """
    if not text.isascii() or _INTEGER.fullmatch(text) is None:
        raise ValueError(f"parsing {quote(text)}: invalid syntax")
    value = int(text)
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise ValueError(f"parsing {quote(text)}: value out of range")
    return value


def quote(text: str) -> str:
    """Return ``text`` in double quotes with the escapes a log reader expects."""
    shown = "".join(_ESCAPES.get(char) or (char if char.isprintable() else _escape(char)) for char in text)
    return f'"{shown}"'


_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r",
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v",
}  # fmt: skip


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
