"""What every page has: the trust chip, the navigation, the words for the browser. A context processor."""

import time
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from dashboard import conf, presenters, wording
from dashboard.access import Sight, may_enter, sight_of
from dashboard.live.hub import hub
from dashboard.picture.model import Picture

STALE_MS: Final = 30_000

NAVIGATION: Final = (
    (
        _("Now"),
        (
            ("overview", _("Overview"), "pulse"),
            ("pending", _("Pending"), "clock"),
            ("fleet", _("Fleet"), "gpu"),
        ),
    ),
    (_("Look up"), (("nodes", _("Nodes"), "node"), ("quotas", _("Quotas"), "quota"))),
    (_("Explain"), (("decisions", _("Decisions"), "decision"),)),
    (_("Scheduler"), (("scheduler", _("Scheduler"), "leader"),)),
)  # fmt: skip


def frame(request: HttpRequest) -> dict[str, Any]:
    """Return the frame's values. Pages for nobody (login, errors) get only the cluster's name."""
    base = {"cluster_name": conf.cluster_name(), "language": get_language() or "en"}
    user = getattr(request, "user", None)
    if user is None or not may_enter(user):
        return base
    picture, sight = hub.mirror.picture, sight_of(user)
    return {
        **base,
        "picture": picture,
        "sight": sight,
        "navigation": navigation(request, sight),
        "pending_count": pending_count(picture, sight),
        "trust": trust(picture, now_ms=time.time_ns() // 1_000_000),
        "words": wording.for_browser(),
    }


def navigation(request: HttpRequest, sight: Sight) -> list[tuple[Any, list[dict[str, Any]]]]:
    """Return the groups of links; people without the cluster's sight get what is theirs."""
    name = request.resolver_match.url_name if request.resolver_match else ""
    parent = {"node": "nodes", "pod": "pending"}.get(name or "", name)
    own = {"overview", "pending", "quotas"}
    return [
        (title, [
            {"name": n, "href": reverse(n), "label": label, "icon": icon, "current": n == parent}
            for n, label, icon in links
            if sight.is_cluster or n in own
        ])
        for title, links in NAVIGATION
        if sight.is_cluster or any(n in own for n, _label, _icon in links)
    ]  # fmt: skip


def pending_count(picture: Picture, sight: Sight) -> int:
    return sum(sight.sees(pod.namespace) for pod in picture.pending.values())


def trust(picture: Picture, now_ms: int) -> dict[str, str]:
    """Return the chip as the server sees it; the browser goes on from there (console.md 4)."""
    leader = picture.leader
    unsynced = [source.name for source in picture.sources if not source.is_synced]
    if not picture.is_known or (leader.is_elected and not leader.is_synced and leader.is_leader) or unsynced:
        return {"state": "loading", "tone": "off", "text": _chip("loading", names=", ".join(unsynced) or "…")}
    if leader.is_elected and not leader.holder:
        seen = presenters.moment(leader.seen_ms)[11:19] if leader.seen_ms else ""
        key = "no_leader" if seen else "no_leader_ever"
        return {"state": "no_leader", "tone": "bad", "text": _chip(key, time=seen)}
    if leader.is_elected and not leader.is_leader:
        return {"state": "follower", "tone": "off", "text": _chip("follower", leader=leader.holder)}
    return {"state": "live", "tone": "ok", "text": _chip("live")}


def _chip(key: str, **values: str) -> str:
    return str(wording.BROWSER[key]).format_map(values)
