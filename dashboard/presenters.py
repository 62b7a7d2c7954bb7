"""Domain numbers to what a person reads (console.md 4, "Units").

Pure; ``static/dashboard/js/format.js`` is its twin.

None is unknown and becomes a dash, never a zero.
"""

import math
from datetime import UTC, datetime
from typing import Final

UNKNOWN: Final = "—"
MIB_PER_GIB: Final = 1024


def gib(mib: int | None) -> str:
    """Return MiB as GiB: one decimal below 100, none above."""
    if mib is None:
        return UNKNOWN
    value = mib / MIB_PER_GIB
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def memory(mib: int | None) -> str:
    """Return MiB with a unit that keeps the figure short: ``40.0 GiB``, ``1.2 TiB``."""
    if mib is None:
        return UNKNOWN
    if mib >= MIB_PER_GIB * MIB_PER_GIB:
        return f"{mib / MIB_PER_GIB / MIB_PER_GIB:,.1f} TiB"
    return f"{gib(mib)} GiB"


def percent(used: int | None, total: int | None) -> str:
    """Return a ratio of two integers as whole percent; of nothing it is unknown."""
    if used is None or not total:
        return UNKNOWN
    return f"{_share(used, total)} %"


def pair(value: tuple[int, int] | None) -> str:
    """Return (used, total) as it is counted: ``"3/10"``."""
    return UNKNOWN if value is None else f"{number(value[0])}/{number(value[1])}"


def ratio(used: int | None, total: int | None) -> int:
    """Return 0 to 100 for the width of a bar."""
    return 0 if used is None or not total else max(0, min(100, _share(used, total)))


def _share(used: int, total: int) -> int:
    """Return whole percent, a half rounded up as ``Math.round`` does."""
    return math.floor(used * 100 / total + 0.5)


def number(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def tenths(value: float | None) -> str:
    """Return one decimal always: ``12.0``."""
    return UNKNOWN if value is None else f"{value:,.1f}"


def gpus(cores: int) -> str:
    """Return summed percent of cores as whole GPUs: ``12.4``."""
    return f"{cores / 100:,.1f}"


_AGES: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))


def age(ms: int | None) -> str:
    """Return the largest unit of a duration: ``12 s``, ``4 min``, ``3 h``, ``2 d``."""
    if ms is None:
        return UNKNOWN
    for size, unit in _AGES:
        if ms >= size:
            return f"{ms // size} {unit}"
    return f"{max(ms, 0) // 1000} s"


def since(at_ms: int, now_ms: int) -> str:
    """Return the age of a moment; 0 is never."""
    return age(now_ms - at_ms) if at_ms else UNKNOWN


def middle(text: str, *, keep: int = 14) -> str:
    """Cut a long identifier in the middle, where it says least."""
    if len(text) <= keep:
        return text
    head = keep * 2 // 3
    return f"{text[:head]}…{text[-(keep - head - 1) :]}"


def plain(text: str) -> str:
    """Return ``text`` without what would turn the reading direction of the words around it."""
    return "".join(sign for sign in text if sign not in _TURNING)


_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def moment(at_ms: int) -> str:
    """Return epoch milliseconds as RFC 3339 in UTC, to the second; 0 is unknown."""
    if not at_ms:
        return UNKNOWN
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
