"""Q-2: a vendor whose capacity is gone stays out of the node until it advertises again.

The reference removes it at the end of a handshake and takes the register text that it left behind for a new
one at the next pass.
"""

from typing import Any

from scheduler_app.conformance.quirks.course import Course
from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.conformance.world import World
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import VendorKey
from scheduler_app.kube import decode

Json = dict[str, Any]
Place = tuple[str, VendorKey]


class StaysOut(Judge):
    def __init__(self, world: World, course: Course) -> None:
        super().__init__(world, course)
        self._out: dict[Place, Json] = {}

    def before(self, step: Json) -> None:
        if step["op"] in ("node_add", "node_update"):
            for key, backend in self.world.backends.items():
                self._look(step["node"], key, backend)

    def decision(self, seen: Seen) -> Seen:
        for name, _ in self._out:
            if name in (seen.step.get("node_names") or ()) and seen.is_live:
                self.course.mark(name)
        return seen

    def usage(self, expected: Json) -> Json:
        nodes = dict(expected["nodes"])
        for (name, _), gone in self._out.items():
            left = [card for card in nodes.pop(name, ()) if card["id"] not in gone["cards"]]
            if left:
                nodes[name] = left
        return {**expected, "nodes": nodes}

    def _look(self, node: Json, key: VendorKey, backend: DeviceBackend) -> None:
        """Note who leaves, and who advertises anew: another text, a capacity, an answer to the handshake."""
        name, status = node["metadata"]["name"], node["status"]
        annotations = node["metadata"].get("annotations") or {}
        answer = annotations.get(backend.keys.handshake, "") if backend.keys.handshake else ""
        counts = [
            status.get(group, {}).get(backend.names.count, "0") for group in ("capacity", "allocatable")
        ]
        says = {"text": annotations.get(backend.keys.register, ""), "counts": counts}
        before = self._out.pop((name, key), None)
        has_cards = key in self.world.state.vendors(decode.decode_node(node).name)
        if answer.startswith("Requesting_") and counts[1] == "0" and (has_cards or before):
            cards = before["cards"] if before else set()
            self._out[name, key] = {"says": says, "cards": cards | _cards(node, backend)}


def _cards(node: Json, backend: DeviceBackend) -> set[str]:
    try:
        return {str(card.id) for card in backend.node_cards(decode.decode_node(node))}
    except CodecError:
        return set()
