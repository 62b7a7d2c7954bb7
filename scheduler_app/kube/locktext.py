"""The text of a node lock: ``"<RFC 3339>,<namespace>,<pod>"``, or in its old form the time alone (P-11)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import Pod

# Upper-case T and Z, a zone, seconds below 60: what the reference's parser takes, and nothing else.
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-4]):([0-5]\d))", re.ASCII
)


@dataclass(frozen=True, slots=True)
class LockText:
    """A lock that could be read. ``namespace`` and ``name`` are empty in the old form."""

    time: datetime
    namespace: str = ""
    name: str = ""

    @property
    def has_owner(self) -> bool:
        return bool(self.namespace and self.name)


def parse_lock(text: str) -> LockText:
    """Read a lock.

    Raises:
        CodecError: it has another number of parts, or its time cannot be read.
    """
    if "," not in text:
        return LockText(parse_time(text))
    parts = text.split(",")
    if len(parts) != 3:
        raise CodecError(f"malformed lock annotation: expected 3 parts, got {len(parts)} from {text}")
    return LockText(parse_time(parts[0]), parts[1], parts[2])


def format_lock(pod: Pod, *, now: datetime) -> str:
    return f"{format_time(now)},{pod.namespace},{pod.name}"


def is_owned(text: str, pod: Pod) -> bool:
    return text.endswith(f",{pod.namespace},{pod.name}")


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time, fractions and offsets up to 24 hours included.

    Raises:
        CodecError: it is none.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise CodecError(f'parsing time "{text}": expected the form 2006-01-02T15:04:05Z07:00')
    try:
        year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
        local = datetime(year, month, day, hour, minute, second, _micros(found[7]), tzinfo=UTC)
        return local - _offset(found)
    except (ValueError, OverflowError) as exc:
        raise CodecError(f'parsing time "{text}": {exc}') from exc


def format_time(now: datetime) -> str:
    """Return seconds precision in the time's own offset; ``Z`` when that is none."""
    return now.isoformat(timespec="seconds").replace("+00:00", "Z")


def _micros(fraction: str | None) -> int:
    return int((fraction or "").ljust(6, "0")[:6])


def _offset(found: re.Match[str]) -> timedelta:
    if found[8] is None:
        return timedelta()
    size = timedelta(hours=int(found[9]), minutes=int(found[10]))
    return -size if found[8] == "-" else size
