"""Template tags of the console: numbers, icons, bars. What they say is in ``presenters`` and ``wording``."""

import time
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard import presenters, wording
from dashboard.picture import causes
from dashboard.picture.packing import Strip
from scheduler_app.core.display import CORES, PERCENT

register = template.Library()

register.filter("middle", presenters.middle)


@register.filter
def number(value: Any) -> str:
    return presenters.number(_known(value))


@register.filter
def memory(value: Any) -> str:
    return presenters.memory(_known(value))


@register.filter
def tenths(value: Any) -> str:
    return presenters.tenths(_known(value))


@register.filter
def times(unit: str) -> str:
    """Return a unit as it follows a number: ``MiB`` bare, ``256 MiB`` with a times sign."""
    return f"{causes.TIMES} {unit}" if unit[:1].isdigit() else unit


def _known(value: Any) -> Any:
    """Return None for a value that a row template does not have; Django passes it as an empty text."""
    return None if value == "" else value


STATE_GLYPHS = {"ok": "●", "silent": "◆", "unhealthy": "▲", "gone": "▲", "unregistered": "○", "cordoned": "○"}
STATE_TONES = {"ok": "ok", "silent": "warn", "unhealthy": "bad", "gone": "bad"}


@register.simple_tag
def icon(name: str) -> SafeString:
    """Return one icon of the sprite. It is decoration: a word stands beside it or in the control's label."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="/static/dashboard/icons.svg#{}"></use></svg>', name
    )


@register.filter
def percent(pair: Any) -> str:
    """Return a (used, total) pair as percent; None is what the vendor does not count."""
    if pair is None:
        return str(wording.BROWSER["not_counted"])
    return presenters.percent(*pair) if pair else presenters.UNKNOWN


@register.inclusion_tag("dashboard/_bar.html")
def bar(pair: Any, label: str, field: str = "", live: str = "") -> dict[str, Any]:
    """Draw a (used, total) pair. ``field`` or ``live`` name what moves it.

    Of nothing no bar is drawn, which would look idle; an empty text is the row that the browser fills.
    """
    used, total = pair or (None, None)
    return {"ratio": presenters.ratio(used, total), "text": percent(pair), "label": label,
            "counted": pair == "" or bool(total), "field": field, "live": live}  # fmt: skip


@register.inclusion_tag("dashboard/_bar.html")
def count_bar(pair: Any, label: str, unit: str = "") -> dict[str, Any]:
    """Draw a (used, total) pair and write it as it is counted; percent where that is the unit."""
    drawn = bar(pair, label)
    if drawn["counted"] and unit != PERCENT:
        drawn["text"] = presenters.pair(pair)
    return drawn


@register.filter
def cores_word(unit: str) -> str:
    """Return what heads an amount of cores: the vendor's unit, "cores" where that is percent."""
    return str(wording.BROWSER["cores"]) if unit in (PERCENT, CORES) else unit


@register.filter
def after_slash(name: str) -> str:
    """Return a pod's own name out of ``"<namespace>/<name>"``."""
    return name.rpartition("/")[2]


@register.filter
def free_text(strip: Strip) -> str:
    """Return what is left of a GPU with its unit: ``"12.0 GiB"``, ``"1 core"``, ``"2 shares"``."""
    if strip.measure == "memory":
        return presenters.memory(strip.free)
    if strip.measure == "cores":
        return wording.core_count(strip.free, strip.card.cores_unit)
    return wording.share_count(strip.free)


@register.simple_tag
def held(amount: int | None, unit: str = "") -> SafeString:
    """Return what a pod has of a GPU, memory where there is no unit; a dash for what nobody counts."""
    if amount is None:
        return format_html(
            '<span class="muted" title="{}">{}</span>', wording.BROWSER["not_counted"], presenters.UNKNOWN
        )
    return format_html("{}", wording.core_count(amount, unit) if unit else presenters.memory(amount))


@register.simple_tag
def state_badge(state: str, field: str = "") -> SafeString:
    """Return a state as glyph and word, never colour alone."""
    tone, glyph = STATE_TONES.get(state, "off"), STATE_GLYPHS.get(state, "○")
    return format_html(
        '<span class="badge tone-{}" data-f="{}" data-fmt="state">'
        '<span aria-hidden="true">{}</span> {}</span>',
        tone, field, glyph, wording.NODE_STATES.get(state, state),
    )  # fmt: skip


@register.simple_tag
def age_of(at_ms: int | None, field: str = "") -> SafeString:
    """Return an age that counts on in the browser; its tooltip has the moment in UTC."""
    now = time.time_ns() // 1_000_000
    return format_html(
        '<time class="age" data-at="{}" data-f="{}" data-fmt="age" datetime="{}">{}</time>',
        at_ms or 0, field, presenters.moment(at_ms or 0), presenters.since(at_ms or 0, now),
    )  # fmt: skip


@register.simple_tag
def clock(at_ms: int) -> SafeString:
    """Return a moment; the browser rewrites it into the reader's own time."""
    return format_html(
        '<time data-clock="{}" datetime="{}">{}</time>',
        at_ms, presenters.moment(at_ms), presenters.moment(at_ms)[11:16] + " UTC",
    )  # fmt: skip


@register.filter
def problem_title(problem: dict[str, Any]) -> str:
    return wording.problem_title(
        problem["key"], count=problem["count"], names=problem["names"], args=problem["args"]
    )


@register.filter
def problem_help(problem: dict[str, Any]) -> str:
    return str(wording.PROBLEMS[problem["key"]].help)


@register.filter
def cause_short(word: str) -> str:
    return str(wording.cause_text(word).short)


@register.filter
def cause_why(word: str) -> str:
    return str(wording.cause_text(word).why)


@register.filter
def cause_remedy(word: str) -> str:
    return str(wording.cause_text(word).remedy)


@register.filter
def pods(count: int) -> str:
    """Return ``"1 pod"``, ``"60 pods"``; nothing for none."""
    return wording.pod_count(count) if count else ""


@register.filter
def get(mapping: dict[str, Any], key: str) -> Any:
    return mapping.get(key)
