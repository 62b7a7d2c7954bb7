"""Q-3: a cordon works at once, not when the devices are registered next."""

from typing import Any

from scheduler_app.conformance.quirks import held
from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.core import annotations

Json = dict[str, Any]
WORD = "CardCordoned"


class CordonAtOnce(Judge):
    def decision(self, seen: Seen) -> Seen:
        """Open a decision that took cordoned cards, if ours refuses such cards or takes others."""
        recorded = (seen.expected["node_names"] or [""])[0] if seen.is_live else ""
        node = self.world.api.objects.get(("nodes", "", recorded))
        cordoned = _cordoned(node) if node else set()
        if not _taken(seen.expected.get("patch"), self) & cordoned:
            return seen
        refused = (seen.actual["failed_nodes"] or {}).get(recorded, "")
        taken = _taken(seen.actual["patch"], self)
        self.course.is_open = WORD in refused or bool(taken and not taken & cordoned)
        self.course.mark(recorded, namespace=seen.pod["metadata"]["namespace"])
        return seen


def _cordoned(node: Json) -> set[str]:
    text = (node["metadata"].get("annotations") or {}).get(annotations.DEVICE_CORDON, "")
    return {item.strip() for item in text.split(",")}


def _taken(patch: Json | None, judge: Judge) -> set[str]:
    keys = (backend.keys.allocated for backend in judge.world.backends.values())
    texts = ((patch or {}).get(key) or "" for key in keys)
    return {card for text in texts for devices in held.containers_of(text) for card, _, _ in devices}
