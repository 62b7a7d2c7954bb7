"""Fleet: the atlas, and its twin as a table (console.md 8)."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.access import require_cluster
from dashboard.live.hub import hub, now_ms
from dashboard.pages.lists import Listing
from dashboard.picture import rows
from dashboard.picture.model import Picture
from dashboard.picture.summary import summary
from scheduler_app.core.publication import CardView, NodeView

COLOURS = ("memory", "cores", "shares")
GROUPS = ("model", "pool")


def fleet(request: HttpRequest) -> HttpResponse:
    require_cluster(request)
    picture = hub.mirror.picture
    found = select(picture, request.GET.get("q", ""))
    listing = Listing.of(request, found)
    context = {
        "by": _choice(request, "by", COLOURS),
        "group": _choice(request, "group", GROUPS),
        "q": request.GET.get("q", ""),
        "kiosk": request.GET.get("kiosk") == "1",
        "as_table": request.GET.get("as") == "table",
        "listing": replace(listing, rows=[rows.card_row(card, node) for node, card in listing.rows]),
        "s": summary(picture, now_ms()),
        "topics": ["fleet", "summary"],
    }
    return render(request, "dashboard/fleet.html", context)


def select(picture: Picture, query: str) -> list[tuple[NodeView, CardView]]:
    """Return the GPUs whose node, model or id has ``query`` in it, in the order of their nodes' names."""
    text = query.strip().lower()
    return [
        (node, card)
        for _name, node in sorted(picture.nodes.items())
        for card in node.cards
        if not text or text in f"{node.name} {card.model} {card.id}".lower()
    ]


def _choice(request: HttpRequest, name: str, choices: tuple[str, ...]) -> str:
    value = request.GET.get(name, "")
    return value if value in choices else choices[0]
