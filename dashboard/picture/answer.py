"""The whole answer to "why is my pod pending", for scripts and as text (console.md 6.2)."""

from typing import Any, Final

from dashboard import presenters
from dashboard.picture import causes, notes, stops
from dashboard.picture.model import Picture
from dashboard.picture.verdict import funnel, groups, journey, verdict
from scheduler_app.core.publication import PendingPod

TEXT_WIDTH: Final = 64


def why(pod: PendingPod, picture: Picture) -> dict[str, Any]:
    """Return the whole answer for scripts."""
    found = verdict(pod, picture)
    return {
        "pod": f"{pod.namespace}/{pod.name}",
        "state": "pending",
        "since": presenters.moment(pod.since_ms),
        "tries": pod.tries,
        "last_try": presenters.moment(pod.last_try_ms) if pod.last_try_ms else None,
        "ask": causes.ask_text(pod.asks),
        "verdict": {"kind": found.kind, "text": found.text, "key": found.key, "args": found.args},
        "notes": notes.notes(pod, picture),
        "journey": journey(pod),
        "funnel": funnel(pod, picture),
        "stops": stops.rows(pod),
        "groups": [{k: v for k, v in group.items() if k != "share"} for group in groups(pod)],
    }


def as_text(pod: PendingPod, picture: Picture, *, now_ms: int) -> str:
    """Return the answer in ten lines for a terminal or a chat."""
    way = funnel(pod, picture)
    waited, last = presenters.since(pod.since_ms, now_ms), presenters.since(pod.last_try_ms, now_ms)
    counts = f"{way['ruled_out_before']} not asked, {way['asked']} asked, {way['refused']} refused"
    lines = [
        f"{pod.namespace}/{pod.name} pending for {waited}, {pod.tries} tries, last {last} ago",
        verdict(pod, picture).text,
        *(f"  {note}" for note in notes.notes(pod, picture)),
        f"  {way['nodes']} nodes: {counts}",
    ]
    for group in pod.groups:
        near = f"   at {', '.join(group.containers)}" if group.containers else ""
        near += f"   e.g. {group.examples[0]}" if group.examples else ""
        lines.append(f"  {group.nodes:5} nodes  {group.text:{TEXT_WIDTH}}{near}".rstrip())
    leader = f", leader {picture.leader.holder}" if picture.leader.holder else ""
    lines.append(f"as of {presenters.moment(picture.at_ms)}{leader}")
    return "\n".join(lines) + "\n"
