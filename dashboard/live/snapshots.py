"""Topology and snapshots as compressed bytes, built once a revision.

A hundred reloads cost one (console.md 7.3).
"""

import gzip
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from dashboard.live import frames
from dashboard.live.columns import topology_json
from dashboard.picture.model import Picture

COMPRESSION = 5


class Packed(NamedTuple):
    """A body with its name: who has the same ``etag`` needs no body."""

    etag: str
    body: bytes


@lru_cache(maxsize=2)
def _topology(epoch: str, number: int, picture_key: "_ByIdentity") -> Packed:
    body = orjson.dumps(topology_json(picture_key.picture.topology, epoch))
    return Packed(f'"{epoch}-t{number}"', gzip.compress(body, COMPRESSION, mtime=0))


class _ByIdentity(NamedTuple):
    """Carries a picture through a cache whose other arguments say all that counts."""

    picture: Picture

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity)

    def __hash__(self) -> int:
        return 0


def topology(picture: Picture) -> Packed:
    return _topology(picture.epoch, picture.topology.number, _ByIdentity(picture))


@lru_cache(maxsize=16)
def _topic(epoch: str, revision: int, topic: str, values: "_Values") -> bytes:
    return orjson.dumps(frames.snapshot(topic, values.picture, values.summary))


class _Values(NamedTuple):
    picture: Picture
    summary: dict[str, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Values)

    def __hash__(self) -> int:
        return 0


def snapshot(picture: Picture, summary: dict[str, Any], topics: tuple[str, ...]) -> Packed:
    """Return the topics of one revision. The caller has checked that the reader may see them."""
    return _snapshot(picture.epoch, picture.revision, topics, _Values(picture, summary))


@lru_cache(maxsize=8)
def _snapshot(epoch: str, revision: int, topics: tuple[str, ...], values: _Values) -> Packed:
    head = {
        "epoch": epoch,
        "topo": values.picture.topology.number,
        "rev": revision,
        "at": values.picture.at_ms,
    }
    parts = [orjson.dumps(head)[1:-1]]
    parts += [orjson.dumps(topic) + b":" + _topic(epoch, revision, topic, values) for topic in topics]
    body = b"{" + b",".join(parts) + b"}"
    return Packed(f'"{epoch}-{revision}"', gzip.compress(body, COMPRESSION, mtime=0))
