"""REST: what every list answers: when, whose, how fresh, how many (console.md 9)."""

from collections.abc import Sequence
from typing import Any, Final

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard import presenters
from dashboard.api.errors import NotSynced
from dashboard.live.hub import hub, now_ms
from dashboard.pages.lists import address
from dashboard.picture.model import Picture
from dashboard.picture.problems import SOURCE_LATE_MS

PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 1000


def known_picture() -> Picture:
    """Return the picture; raise ``NotSynced`` while there is none."""
    picture = hub.mirror.picture
    if not picture.is_known:
        raise NotSynced
    return picture


def head(picture: Picture) -> dict[str, Any]:
    return {
        "as_of": presenters.moment(picture.at_ms),
        "epoch": picture.epoch,
        "rev": picture.revision,
        "leader": picture.leader.holder,
        "stale": is_stale(picture, now_ms()),
    }


def is_stale(picture: Picture, now: int) -> bool:
    """Say whether a source is late, or these are a follower's own caches."""
    late = any(source.seen_ms and now - source.seen_ms > SOURCE_LATE_MS for source in picture.sources)
    return late or (picture.leader.is_elected and not picture.leader.is_leader)


def listed(request: Request, rows: Sequence[Any], picture: Picture) -> Response:
    """Answer one page of ``rows``. Raises ValidationError for a page or size that is no number in range."""
    size = whole_number(request, "page_size", default=PAGE_SIZE, most=MAX_PAGE_SIZE)
    number = whole_number(request, "page", default=1, most=1_000_000)
    start = (number - 1) * size
    more = start + size < len(rows)
    return Response(
        {
            **head(picture),
            "count": len(rows),
            "next": address(request._request, page=number + 1) if more else None,
            "results": list(rows[start : start + size]),
        }
    )


def whole_number(request: Request, name: str, *, default: int, most: int) -> int:
    raw = request.query_params.get(name)
    if raw is None:
        return default
    if not raw.isdigit() or not 1 <= int(raw) <= most:
        raise ValidationError({name: f"expected a whole number from 1 to {most}"})
    return int(raw)
