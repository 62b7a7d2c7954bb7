"""Durations as Go writes and reads them: ``28s``, ``5m0s``, ``1h30m0s``, ``300ms``, ``0s``."""

import re
from decimal import Decimal

from scheduler_app.core import text as texts

_UNITS = {
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "μs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_MAX_NANOSECONDS = 2**63 - 1


def parse_seconds(text: str) -> float:
    """Return the seconds a duration text means.

    Raises:
        ValueError: it is no duration, or longer than the protocol's 64 bits of nanoseconds.
    """
    sign, body = (-1 if text[:1] == "-" else 1), text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return 0.0
    position, total = 0, Decimal(0)
    while position < len(body):
        part = _PART.match(body, position)
        if part is None:
            break
        total += Decimal(part[1]) * _UNITS[part[2]]
        position = part.end()
    if not body or position < len(body) or total * 10**9 > _MAX_NANOSECONDS:
        raise ValueError(f"invalid duration {texts.quote(text)}")
    return float(sign * total)


def format_seconds(seconds: float) -> str:
    """Return the canonical form of a duration."""
    nanoseconds = round(abs(seconds) * 1_000_000_000)
    sign = "-" if seconds < 0 else ""
    if nanoseconds == 0:
        return "0s"
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if nanoseconds < size * 1_000 and nanoseconds < 1_000_000_000:
            return f"{sign}{_plain(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{_plain(rest, 1_000_000_000)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _plain(value: int, unit: int) -> str:
    """Return ``value / unit`` without trailing zeros."""
    whole, rest = divmod(value, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}" if rest else str(whole)
