"""Kubernetes objects as plain JSON: their keys, copies, times and generated names."""

import random
import uuid
from datetime import UTC, datetime
from typing import Any

import orjson

Json = dict[str, Any]

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # the alphabet of Kubernetes: no vowels, no look-alikes
_SUFFIX_LENGTH = 5
_BASE_LENGTH = 58
_random = random.SystemRandom()


def copy(value: Json) -> Json:
    """Return a deep copy; five times faster than ``copy.deepcopy`` on a pod (K3.6-6)."""
    copied: Json = orjson.loads(orjson.dumps(value))
    return copied


def key_of(body: Json) -> str:
    """Return ``"<namespace>/<name>"``, or ``"<name>"`` for an object without namespace."""
    meta = body["metadata"]
    namespace = meta.get("namespace")
    return f"{namespace}/{meta['name']}" if namespace else str(meta["name"])


def split_key(key: str) -> tuple[str, str]:
    """Return (namespace, name) of ``"ns/name"`` or ``"name"``."""
    namespace, _, name = key.rpartition("/")
    return namespace, name


def join_key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def annotations(body: Json) -> dict[str, str]:
    found: dict[str, str] = body["metadata"].get("annotations") or {}
    return found


def labels(body: Json) -> dict[str, str]:
    found: dict[str, str] = body["metadata"].get("labels") or {}
    return found


def lookup(body: Json, path: str) -> object:
    """Return what stands at a dotted path, None where a part is missing."""
    value: object = body
    for part in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def generated_name(base: str) -> str:
    """Return base, cut to 58 characters, with five random ones behind it (K4.5-9)."""
    return base[:_BASE_LENGTH] + "".join(_random.choices(_SUFFIX_LETTERS, k=_SUFFIX_LENGTH))


def new_uid() -> str:
    return str(uuid.uuid4())


def now() -> datetime:
    return datetime.now(UTC)


def time_text(moment: datetime | None = None) -> str:
    """Return a metav1.Time: RFC 3339, seconds, ``Z``."""
    return (moment or now()).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_time_text(moment: datetime | None = None) -> str:
    """Return a metav1.MicroTime: exactly six digits behind the point."""
    return (moment or now()).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time; ValueError for anything else."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
