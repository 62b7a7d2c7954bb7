"""What a reflector must know of a kind of object: how to read it, and by what it is told apart.

Pages are decoded whole, which is fast; only a page with an odd object is decoded again, item by item.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import msgspec
from msgspec import Struct

from scheduler_app.core.types import Node, Pod, ResourceQuota
from scheduler_app.kube import decode, paths, shapes
from scheduler_app.kube.errors import ApiError, DecodeError, status_error

T = TypeVar("T")
Malformed = Callable[[str, str], None]
"""Told of each object that could not be read: its key as far as known, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """An object and what identifies it. ``key`` is ``"namespace/name"``, or ``"name"`` of a node."""

    key: str
    uid: str
    version: str
    value: T


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a list. ``unread`` are keys of objects that are there but could not be read."""

    items: tuple[Item[T], ...]
    version: str
    continue_token: str = ""
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """One event of a watch. Without ``item`` it is a bookmark, or an object whose key is in ``unread``."""

    type: str
    version: str
    item: Item[T] | None = None
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """A kind of object: where it is listed, the fields we read, and how they become a domain value.

    ``name`` is for people, ``kind`` as in ``PodList``, ``query`` restricts the list and the watch alike.
    """

    name: str
    kind: str
    path: str
    shape: type[Struct]
    value: Callable[[Any], T]
    page_size: int = 500
    query: Mapping[str, str] = field(default_factory=dict)

    def page(self, raw: bytes, *, malformed: Malformed) -> Page[T]:
        """Read a page of a list.

        Raises:
            DecodeError: it is not a list of this kind; nothing may be deleted because of it (I07).
        """
        unread: tuple[str, ...] = ()
        try:
            whole: Any = _page_decoder(self.shape).decode(raw)
            items = tuple(map(self._item, whole.items or ()))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            whole = decode.shape_of(shapes.RawPage, raw)
            read = [self._read(bytes(item), malformed) for item in whole.items or ()]
            items = tuple(item for item in read if isinstance(item, Item))
            unread = tuple(key for key in read if isinstance(key, str))
        if whole.kind != f"{self.kind}List":
            raise DecodeError(f"expected a {self.kind}List, the API server sent kind {whole.kind!r}")
        meta = whole.metadata
        return Page(items, meta.resource_version or "", meta.continue_token or "", unread)

    def change(self, line: bytes, *, malformed: Malformed) -> Change[T]:
        """Read one line of a watch.

        Raises:
            DecodeError: the line is no event.
            ApiError: it is an ERROR event; GoneError when the version is too old.
        """
        event = decode.shape_of(shapes.RawEvent, line)
        raw = bytes(event.object)
        if event.type == "ERROR":
            raise _error(raw)
        read = None if event.type == "BOOKMARK" else self._read(raw, malformed)
        if isinstance(read, Item):
            return Change(event.type, read.version, read)
        version = decode.shape_of(shapes.Bare, raw).metadata.resource_version
        return Change(event.type, version or "", unread=read or "")

    def _read(self, raw: bytes, malformed: Malformed) -> Item[T] | str:
        """Return the object, or the key of one that cannot be read."""
        try:
            return self._item(decode.shape_of(self.shape, raw))
        except DecodeError as exc:
            key = _key_in(raw)
            malformed(key, str(exc))
            return key

    def _item(self, shape: Any) -> Item[T]:
        meta: shapes.Meta = shape.metadata
        key = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        return Item(key, meta.uid or "", meta.resource_version or "", self.value(shape))


PODS: Resource[Pod] = Resource("pods", "Pod", paths.PODS, shapes.PodShape, decode.pod_from)
NODES: Resource[Node] = Resource(
    "nodes", "Node", paths.NODES, shapes.NodeShape, decode.node_from, page_size=100
)
QUOTAS: Resource[ResourceQuota] = Resource(
    "resourcequotas", "ResourceQuota", paths.QUOTAS, shapes.QuotaShape, decode.quota_from
)


@functools.cache
def _page_decoder(shape: type[Struct]) -> msgspec.json.Decoder[Any]:
    page = msgspec.defstruct(
        f"{shape.__name__}Page",
        [
            ("kind", str, ""),
            ("metadata", shapes.ListMeta, msgspec.field(default_factory=shapes.ListMeta)),
            ("items", list[shape] | None, None),  # type: ignore[valid-type]  # a type made for this kind
        ],
    )
    return msgspec.json.Decoder(cast(Any, page))


def _error(raw: bytes) -> ApiError:
    status = decode.shape_of(shapes.StatusShape, raw)
    code = 410 if status.reason in ("Expired", "Gone") else status.code or 0
    wait = status.details.retry_after_seconds if status.details else None
    message = status.message or f"the watch ended with {status.reason or code}"
    return status_error(code, message, retry_after_seconds=float(wait or 0))


def _key_in(raw: bytes) -> str:
    """Return what can be told of the key of an object that cannot be read."""
    try:
        meta = msgspec.json.decode(raw)["metadata"]
        return "/".join(str(meta[part]) for part in ("namespace", "name") if meta.get(part))
    except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, KeyError, AttributeError):
        return ""
