"""Which vendors the fixes keep out of nodes, as of the last pass (Q-2, Q-36, N06).

The reference takes a register text that a dead plugin left behind for a new one, keeps the cards of a node
that says it has none, and keeps nodes that have left the label selector.
"""

import re
from typing import Any

from scheduler_app.conformance.quirks.absence import ASKED, Absence, Place
from scheduler_app.conformance.world import World
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import NodeName, VendorKey
from scheduler_app.kube import decode

Json = dict[str, Any]
SAYS_NONE = re.compile(r"\s*(\[\s*\]|null|:+)\s*")


class Registrations:
    def __init__(self, world: World) -> None:
        self._world = world
        self._absence = Absence(world)
        self._lost: set[str] = set()
        self._cards: dict[Place, set[str]] = {}

    def before_pass(self) -> None:
        """Judge every node as it is when the pass looks at it."""
        selector = self._world.config.node_label_selector
        for name, usage in self._world.state.everything().items():
            for card in usage.cards:
                self._cards.setdefault((name, card.card.vendor), set()).add(str(card.id))
        nodes = self._world.api.of("nodes")
        for node in nodes:
            name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
            self._lost.discard(name)
            if any(labels.get(key) != value for key, value in selector.items()):
                self._lost.add(name)
            for key, backend in self._world.backends.items():
                self._follow(node, key, backend)
        self._absence.before_pass(nodes)

    def _follow(self, node: Json, key: VendorKey, backend: DeviceBackend) -> None:
        """Note a vendor that says it has no cards, until it says that it has some and has answered (N06)."""
        place = (node["metadata"]["name"], key)
        given = node["metadata"].get("annotations") or {}
        text = given.get(backend.keys.register) if backend.keys.register else None
        if text is not None and SAYS_NONE.fullmatch(text) and place in self._cards:
            self._absence.left.add(place)
        elif place in self._absence.left and ASKED not in given.get(backend.keys.handshake, ""):
            try:
                backend.node_cards(decode.decode_node(node))
            except CodecError:
                return
            self._absence.left.discard(place)

    def after_pass(self) -> None:
        """Note vendors that are back with cards: some answer by their capacity alone (NV-10)."""
        nodes = {node["metadata"]["name"]: node for node in self._world.api.of("nodes")}
        for name, key in list(self._absence.left):
            given = nodes[name]["metadata"].get("annotations") or {} if name in nodes else {}
            text = given.get(self._world.backends[key].keys.register) or ""
            if not SAYS_NONE.fullmatch(text) and key in self._world.state.vendors(NodeName(name)):
                self._absence.left.discard((name, key))

    def cache(self, recorded: Json) -> Json:
        """Return the cache without those vendors; a node without vendors is not in it."""
        kept = {
            name: {key: cards for key, cards in vendors.items() if key not in self._out(name)}
            for name, vendors in recorded.items()
            if name not in self._lost
        }
        return {name: vendors for name, vendors in kept.items() if vendors}

    def usage(self, recorded: Json) -> Json:
        kept = {}
        for name, cards in recorded.items():
            gone = {card for key in self._out(name) for card in self._cards.get((name, VendorKey(key)), ())}
            gone |= self._absence.cards(name)
            left = [card for card in cards if card["id"] not in gone]
            if name not in self._lost and left:
                kept[name] = left
        return kept

    def handshakes(self, name: str) -> set[str]:
        """Return the handshake keys of absent vendors, which the reference removes and asks for again."""
        return {self._world.backends[VendorKey(key)].keys.handshake for key in self._out(name)}

    def marks(self, shown: Json) -> Json:
        """Return nodes' annotations without the handshakes of vendors that say they have no cards."""
        keys = {
            name: {self._world.backends[key].keys.handshake for key in self._left(name)} for name in shown
        }
        return {
            name: {
                **marks,
                "annotations": {k: v for k, v in marks["annotations"].items() if k not in keys[name]},
            }
            for name, marks in shown.items()
        }

    def _out(self, name: str) -> set[str]:
        return {str(key) for key in self._left(name)} | self._absence.vendors(name)

    def _left(self, name: str) -> set[VendorKey]:
        return {key for node, key in self._absence.left if node == name}
