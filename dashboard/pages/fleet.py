"""Fleet: the atlas, and its twin as a table (console.md 8)."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.access import require_cluster
from dashboard.live.hub import hub, now_ms
from dashboard.pages.lists import Listing
from dashboard.picture import rows
from dashboard.picture.summary import summary

COLOURS = ("memory", "cores", "shares")
GROUPS = ("model", "pool")


def fleet(request: HttpRequest) -> HttpResponse:
    require_cluster(request)
    picture = hub.mirror.picture
    cards = [rows.card_row(card, node) for node in picture.nodes.values() for card in node.cards]
    query = request.GET.get("q", "").strip().lower()
    found = [card for card in cards if query in f"{card['node']} {card['model']} {card['id']}".lower()]
    context = {
        "by": _choice(request, "by", COLOURS),
        "group": _choice(request, "group", GROUPS),
        "q": request.GET.get("q", ""),
        "kiosk": request.GET.get("kiosk") == "1",
        "as_table": request.GET.get("as") == "table",
        "listing": Listing.of(request, sorted(found, key=lambda card: (card["node"], card["index"]))),
        "s": summary(picture, now_ms()),
        "topics": ["fleet", "summary"],
    }
    return render(request, "dashboard/fleet.html", context)


def _choice(request: HttpRequest, name: str, choices: tuple[str, ...]) -> str:
    value = request.GET.get(name, "")
    return value if value in choices else choices[0]
