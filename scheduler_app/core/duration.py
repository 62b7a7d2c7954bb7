"""Durations as Go writes and reads them: ``28s``, ``5m0s``, ``1h30m0s``, ``300ms``, ``0s``."""

import re
from decimal import Decimal

from scheduler_app.core import text as texts

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_MAX_NANOSECONDS = 2**63 - 1
SECOND = 1_000_000_000


def parse_nanoseconds(text: str) -> int:
    """Return the nanoseconds a duration text means; fractions of one are cut off.

    Raises:
        ValueError: it is no duration, or longer than the protocol's 64 bits.
    """
    sign, body = (-1 if text[:1] == "-" else 1), text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return 0
    position, total = 0, 0
    while position < len(body):
        part = _PART.match(body, position)
        if part is None:
            break
        total += int(Decimal(part[1]) * _UNITS[part[2]])
        position = part.end()
    if not body or position < len(body) or total > _MAX_NANOSECONDS:
        raise ValueError(f"invalid duration {texts.quote(text)}")
    return sign * total


def parse_seconds(text: str) -> float:
    """Return the seconds a duration text means.

    Raises:
        ValueError: as ``parse_nanoseconds``.
    """
    return parse_nanoseconds(text) / SECOND


def format_seconds(seconds: float) -> str:
    """Return the canonical form of a duration."""
    return format_nanoseconds(round(seconds * SECOND))


def format_nanoseconds(value: int) -> str:
    """Return the canonical form of a duration."""
    nanoseconds, sign = abs(value), "-" if value < 0 else ""
    if nanoseconds == 0:
        return "0s"
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if nanoseconds < size * 1_000 and nanoseconds < SECOND:
            return f"{sign}{_plain(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60 * SECOND)
    hours, minutes = divmod(minutes, 60)
    text = f"{_plain(rest, SECOND)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _plain(value: int, unit: int) -> str:
    """Return ``value / unit`` without trailing zeros."""
    whole, rest = divmod(value, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}" if rest else str(whole)
