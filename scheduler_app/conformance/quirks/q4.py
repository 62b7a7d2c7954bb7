"""Q-4: a pod's reservations count as soon as they are written, not when the watch shows them.

A card with instances that the recording could not account for yet was unhealthy to it; it is not to us.
"""

from typing import Any

from scheduler_app.conformance.quirks.judge import Judge, Seen

Json = dict[str, Any]


class KnownAtOnce(Judge):
    def decision(self, seen: Seen) -> Seen:
        if seen.step.get("delivered", True) is False and seen.is_live:
            self.course.mark(*(seen.expected["node_names"] or ()))
        return seen

    def usage(self, expected: Json) -> Json:
        nodes = {
            name: [{**card, "health": True} for card in cards] if name in self.course.nodes else cards
            for name, cards in expected["nodes"].items()
        }
        return {**expected, "nodes": nodes}
