"""The watch, one notification at a time: the product's own stores and handlers, without a thread.

Versions are counted here, since the recording's API kept an object's version when it was patched.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from scheduler_app.kube.reflector import ResourceHandler
from scheduler_app.kube.resources import Item
from scheduler_app.kube.store import Difference, Store

T = TypeVar("T")
Json = Mapping[str, Any]


@dataclass(slots=True)
class Watched(Generic[T]):
    """One kind of object. ``decode`` may raise; such an object is not seen at all."""

    decode: Callable[[Json], T]
    handler: ResourceHandler[T]
    store: Store[T] = field(default_factory=Store)
    seen: int = 0

    def see(self, raw: Json) -> None:
        for change in self.store.put(self._item(raw)):
            self._tell(change)

    def lose(self, raw: Json) -> None:
        for change in self.store.drop(self._item(raw)):
            self._tell(change)

    def resync(self, raw: Json) -> None:
        """Tell of an object that has not changed, as watches do when a status nobody reads is written."""
        value = self.decode(raw)
        self.handler.updated(value, value)

    def _item(self, raw: Json) -> Item[T]:
        meta, self.seen = raw["metadata"], self.seen + 1
        key = f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else meta["name"]
        return Item(key, meta.get("uid", ""), str(self.seen), self.decode(raw))

    def _tell(self, change: Difference[T]) -> None:
        old, new = change.old, change.new
        if new is None:
            if old is not None:
                self.handler.deleted(old.value)
        elif old is None:
            self.handler.added(new.value)
        else:
            self.handler.updated(old.value, new.value)
