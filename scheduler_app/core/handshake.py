"""The handshake of scheduler and node plugin: ``Requesting_<YYYY-MM-DD hh:mm:ss>`` (P-13, R-8, VB-22)."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from scheduler_app.core import quantity
from scheduler_app.core.types import Node

if TYPE_CHECKING:
    from scheduler_app.core.backend import Health

REQUESTING = "Requesting"
VALID = timedelta(seconds=60)
_SHAPE = "%Y-%m-%d %H:%M:%S"
_LENGTH = len("2026-01-02 15:04:05")


def stamp(now: datetime) -> str:
    """Return the text the scheduler writes; ``now`` is local time without zone."""
    return f"{REQUESTING}_{now:{_SHAPE}}"


def judge(node: Node, *, key: str, count_resource: str, now: datetime) -> Health:
    """Apply the generic rule R-8."""
    if not key:
        return _health(healthy=True, needs_update=True)
    text = node.annotations.get(key, "")
    if REQUESTING not in text:
        return _health(healthy=True, needs_update=True, asks=True)
    asked = _time(text)
    if asked is None or now < asked + VALID:
        return _health(healthy=True, needs_update=False)
    has_cards = quantity.rounded(node.allocatable.get(count_resource, "0")) > 0
    return _health(healthy=has_cards, needs_update=False)


@cache
def _health(*, healthy: bool, needs_update: bool, asks: bool = False) -> Health:
    """Return one of the few answers there are: each pass gives them by the hundred thousand."""
    from scheduler_app.core.backend import Health

    return Health(healthy=healthy, needs_update=needs_update, stamp=asks, update_follows_stamp=asks)


@lru_cache(maxsize=4096)  # all vendors of a node, and many nodes, carry the same stamp
def _time(text: str) -> datetime | None:
    _, found, when = text.partition("_")
    if not found or len(when) != _LENGTH:
        return None
    try:
        return datetime.strptime(when, _SHAPE)  # noqa: DTZ007  (the protocol's stamps carry no zone, Q-45)
    except ValueError:
        return None
