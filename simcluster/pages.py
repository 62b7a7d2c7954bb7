"""Lists in pages: a continue token names a remembered picture, so all pages show the same moment."""

import base64
import binascii
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import orjson

from simcluster import errors
from simcluster.objects import Json
from simcluster.store import Record

_PICTURES = 32  # remembered; a token of an older one is answered with 410
_TOO_OLD = "The provided continue parameter is too old to display a consistent list result."


@dataclass(frozen=True, slots=True)
class Page:
    """Some records of a list, and the list's metadata."""

    records: list[Record]
    metadata: Json


@dataclass(slots=True)
class Pages:
    """Pictures by (id); safe for many threads."""

    _pictures: OrderedDict[int, tuple[list[Record], int]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _last: int = 0

    def first(self, records: list[Record], version: int, limit: int) -> Page:
        """Return the first page of at most limit records; 0 means all."""
        if not limit or len(records) <= limit:
            return Page(records, {"resourceVersion": str(version)})
        with self._lock:
            self._last += 1
            picture = self._last
            self._pictures[picture] = (records, version)
            if len(self._pictures) > _PICTURES:
                self._pictures.popitem(last=False)
        return self._page(picture, 0, limit)

    def next(self, token: str, limit: int) -> Page:
        """Return the page behind a token; StatusError 410 when its picture is gone, 400 for no token."""
        try:
            picture, start = orjson.loads(base64.urlsafe_b64decode(token))
        except (ValueError, TypeError, binascii.Error):
            raise errors.bad_request("continue key is not valid") from None
        with self._lock:
            if picture not in self._pictures:
                raise errors.expired(_TOO_OLD)
        return self._page(picture, start, limit)

    def forget(self) -> None:
        """Let every token expire."""
        with self._lock:
            self._pictures.clear()

    def _page(self, picture: int, start: int, limit: int) -> Page:
        records, version = self._pictures[picture]
        end = start + limit if limit else len(records)
        metadata: Json = {"resourceVersion": str(version)}
        if end < len(records):
            metadata["continue"] = base64.urlsafe_b64encode(orjson.dumps([picture, end])).decode()
            metadata["remainingItemCount"] = len(records) - end
        return Page(records[start:end], metadata)
