"""Q-2: a vendor whose capacity is gone stays out of the node until it advertises again.

The reference removes it at the end of a handshake and takes the register text that it left behind for a new
one at the next pass.
"""

from typing import Any

from scheduler_app.conformance.quirks.absence import Absence
from scheduler_app.conformance.quirks.course import Course
from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.conformance.world import World

Json = dict[str, Any]
PASSES = ("node_add", "node_update", "node_delete", "register")


class StaysOut(Judge):
    def __init__(self, world: World, course: Course) -> None:
        super().__init__(world, course)
        self._absence = Absence(world)

    def before(self, step: Json) -> None:
        if step["op"] in PASSES:
            nodes = {node["metadata"]["name"]: node for node in self.world.api.of("nodes")}
            if "node" in step:
                nodes[step["node"]["metadata"]["name"]] = step["node"]
            nodes.pop(step.get("name", ""), None)
            self._absence.before_pass(nodes.values())

    def decision(self, seen: Seen) -> Seen:
        if seen.is_live:
            self.course.mark(*(self._absence.nodes & set(seen.step["node_names"] or ())))
        return seen

    def usage(self, expected: Json) -> Json:
        nodes = dict(expected["nodes"])
        for name in self._absence.nodes:
            gone = self._absence.cards(name)
            left = [card for card in nodes.pop(name, ()) if card["id"] not in gone]
            if left:
                nodes[name] = left
        return {**expected, "nodes": nodes}
