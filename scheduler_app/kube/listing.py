"""The LISTs of a reflector: everything in pages, and what the API server had at one exact version."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from scheduler_app.kube import decode, shapes
from scheduler_app.kube.errors import DecodeError, GoneError
from scheduler_app.kube.feed import Feed
from scheduler_app.kube.resources import Item, Malformed, Page, Resource

T = TypeVar("T")
BARE = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=1,application/json"


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A whole list as of ``version``; ``unread`` are keys of objects that are there but could not be read."""

    items: list[Item[T]]
    unread: list[str]
    version: str


class Lister(Generic[T]):
    """Lists one kind of object over a reflector's feed, so that a list can be interrupted like a watch."""

    def __init__(
        self, feed: Feed, resource: Resource[T], *, read_seconds: float, malformed: Malformed
    ) -> None:
        self._feed = feed
        self._resource = resource
        self._read_seconds = read_seconds
        self._malformed = malformed

    def everything(self) -> Listing[T]:
        """Fetch a consistent list page by page; one whose token expired is fetched in one piece (K3.1-1).

        Raises:
            ApiError: it was refused, or is no list: nothing may be deleted because of it (I07).
        """
        try:
            pages = list(self._pages())
        except _TokenExpiredError:
            pages = [self._page({})]
        items = [item for page in pages for item in page.items]
        unread = [key for page in pages for key in page.unread]
        return Listing(items, unread, pages[-1].version)

    def versions_at(self, version: str) -> Mapping[str, str] | None:
        """Return uid and version of all objects at that very version; None: the server shows another one.

        Raises:
            ApiError: it was refused.
        """
        query = {"resourceVersion": version, "resourceVersionMatch": "Exact", "limit": "500"}
        found: dict[str, str] = {}
        while True:
            page = decode.shape_of(shapes.BarePage, self._fetch(query, accept=BARE))
            if page.metadata.resource_version != version:
                return None
            found.update((item.metadata.uid, item.metadata.resource_version) for item in page.items or ())
            if not page.metadata.continue_token:
                return found
            query = {"limit": "500", "continue": page.metadata.continue_token}

    def _pages(self) -> Iterator[Page[T]]:
        size = {"limit": str(self._resource.page_size)}
        page = self._page(size)
        yield page
        while page.continue_token:
            try:
                page = self._page({**size, "continue": page.continue_token})
            except GoneError as exc:
                raise _TokenExpiredError from exc
            yield page

    def _page(self, query: Mapping[str, str]) -> Page[T]:
        page = self._resource.page(self._fetch(query), malformed=self._malformed)
        if not page.version:
            raise DecodeError("the API server sent a list without resourceVersion")
        return page

    def _fetch(self, query: Mapping[str, str], *, accept: str = "") -> bytes:
        query = {**self._resource.query, **query}
        return b"".join(self._feed.pieces(query, read_seconds=self._read_seconds, accept=accept))


class _TokenExpiredError(Exception):
    """A later page is not to be had any more."""
