"""One page of a long list: rows, exact total, and links that keep the rest of the address."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from django.core.paginator import Paginator
from django.http import HttpRequest

PAGE_SIZE: Final = 50


@dataclass(frozen=True, slots=True)
class Listing:
    rows: Sequence[Any]
    count: int
    number: int
    pages: int
    previous: str
    next: str

    @classmethod
    def of(cls, request: HttpRequest, found: Sequence[Any], *, size: int = PAGE_SIZE) -> Self:
        """Return the page that the address asks for; a number out of range is the nearest page."""
        page = Paginator(found, size).get_page(request.GET.get("page"))
        return cls(
            rows=list(page.object_list),
            count=len(found),
            number=page.number,
            pages=page.paginator.num_pages,
            previous=address(request, page=page.number - 1) if page.has_previous() else "",
            next=address(request, page=page.number + 1) if page.has_next() else "",
        )


def address(request: HttpRequest, **changes: object) -> str:
    """Return this page's query with some values changed; an empty value leaves."""
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in ("", None):
            query[name] = str(value)
    return f"?{query.urlencode()}"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column that sorts: where a click leads, and how the rows are sorted now."""

    key: str
    label: Any
    href: str
    direction: str
    is_number: bool = False


def heads(request: HttpRequest, columns: Sequence[tuple[str, Any, bool]], *, default: str) -> list[Head]:
    """Return heads for (key, label, is it a number). A second click turns the order round."""
    current = request.GET.get("sort") or default
    result = []
    for key, label, is_number in columns:
        direction = {key: "ascending", f"-{key}": "descending"}.get(current, "")
        first = f"-{key}" if is_number else key
        turned = {"ascending": f"-{key}", "descending": key}.get(direction, first)
        result.append(Head(key, label, address(request, sort=turned, page=""), direction, is_number))
    return result


def sort_rows(
    rows: list[dict[str, Any]], key: str, allowed: Sequence[str], *, default: str
) -> list[dict[str, Any]]:
    """Sort by ``key`` or ``-key``; pairs by their ratio. What is not allowed is the default."""
    name = key.removeprefix("-")
    if name not in allowed:
        key, name = default, default.removeprefix("-")
    return sorted(rows, key=lambda row: (_weight(row[name]), row["id"]), reverse=key.startswith("-"))


def _weight(value: Any) -> tuple[int, Any]:
    """Return a key by which what is unknown comes first, whatever the others are."""
    if isinstance(value, list | tuple):
        value = value[0] / value[1] if value[1] else None
    return (0, 0) if value is None else (1, value)
