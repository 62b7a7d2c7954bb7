"""Q-2: which vendors have lost their capacity on a node and have not advertised again since."""

from collections.abc import Iterable
from typing import Any

from scheduler_app.conformance.world import World
from scheduler_app.core import quantity
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import VendorKey
from scheduler_app.kube import decode

Json = dict[str, Any]
Place = tuple[str, VendorKey]
ASKED = "Requesting"


class Absence:
    """Told of all nodes before each pass.

    A vendor without capacity that leaves at one pass, as it does in the recording too, is absent from the
    next pass on, at which the recording takes it back. ``left`` are vendors that are gone already for another
    reason, which the recording still has.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._leaving: dict[Place, tuple[Any, set[str]]] = {}
        self._out: dict[Place, tuple[Any, set[str]]] = {}
        self.left: set[Place] = set()

    def before_pass(self, nodes: Iterable[Json]) -> None:
        for node in nodes:
            for key, backend in self._world.backends.items():
                self._look(node, key, backend)

    def vendors(self, name: str) -> set[str]:
        return {key for node, key in self._out if node == name}

    def cards(self, name: str) -> set[str]:
        return {card for (node, _), (_, cards) in self._out.items() if node == name for card in cards}

    @property
    def nodes(self) -> set[str]:
        return {name for name, _ in self._out}

    def _look(self, node: Json, key: VendorKey, backend: DeviceBackend) -> None:
        """Note who leaves, and who is back: another text, a capacity, an answer to the handshake."""
        place = (node["metadata"]["name"], key)
        status, given = node.get("status") or {}, node["metadata"].get("annotations") or {}
        answer = given.get(backend.keys.handshake, "") if backend.keys.handshake else ""
        count = backend.names.count
        counts = [(status.get(group) or {}).get(count, "") for group in ("capacity", "allocatable")]
        says = (given.get(backend.keys.register, ""), *counts, "" if ASKED in answer else answer)
        is_there = key in self._world.state.vendors(decode.decode_node(node).name)
        before = self._out.pop(place, None) or self._leaving.pop(place, None)
        if before is not None and before[0] == says and not is_there:
            self._out[place] = before
        elif (is_there or place in self.left) and ASKED in answer and quantity.rounded(counts[1] or "0") <= 0:
            self._leaving[place] = (says, self._cards(node, key, backend))

    def _cards(self, node: Json, key: VendorKey, backend: DeviceBackend) -> set[str]:
        """Return the cards it had, and those that the text it left behind names."""
        usage = self._world.state.everything().get(decode.decode_node(node).name)
        had = {str(card.id) for card in usage.cards if card.card.vendor == key} if usage else set()
        try:
            return had | {str(card.id) for card in backend.node_cards(decode.decode_node(node))}
        except CodecError:
            return had
