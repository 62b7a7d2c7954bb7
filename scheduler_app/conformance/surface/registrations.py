"""Which vendors the fixes keep out of nodes, as of the last pass (Q-2, Q-36, N06).

The reference takes a register text that a dead plugin left behind for a new one, keeps the cards of a node
that says it has none, and keeps nodes that have left the label selector.
"""

import re
from typing import Any

from scheduler_app.conformance.quirks.absence import Absence
from scheduler_app.conformance.world import World
from scheduler_app.core.types import VendorKey

Json = dict[str, Any]
SAYS_NONE = re.compile(r"\s*(\[\s*\]|null|:+)\s*")


class Registrations:
    def __init__(self, world: World) -> None:
        self._world = world
        self._absence = Absence(world)
        self._lost: set[str] = set()
        self._none: dict[str, set[str]] = {}
        self._cards: dict[tuple[str, str], set[str]] = {}

    def before_pass(self) -> None:
        """Judge every node as it is when the pass looks at it."""
        selector = self._world.config.node_label_selector
        self._absence.before_pass(self._world.api.of("nodes"))
        for name, usage in self._world.state.everything().items():
            for card in usage.cards:
                self._cards.setdefault((name, card.card.vendor), set()).add(str(card.id))
        for node in self._world.api.of("nodes"):
            name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
            self._lost.discard(name)
            if any(labels.get(key) != value for key, value in selector.items()):
                self._lost.add(name)
            self._none[name] = {key for key in self._world.backends if self._says_none(node, key)}

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
            gone = {card for key in self._out(name) for card in self._cards.get((name, key), ())}
            left = [card for card in cards if card["id"] not in gone]
            if name not in self._lost and left:
                kept[name] = left
        return kept

    def handshakes(self, name: str) -> set[str]:
        """Return the handshake keys of absent vendors, which the reference removes again and again."""
        return {self._world.backends[VendorKey(key)].keys.handshake for key in self._absence.vendors(name)}

    def _out(self, name: str) -> set[str]:
        return self._none.get(name, set()) | self._absence.vendors(name)

    def _says_none(self, node: Json, key: Any) -> bool:
        register = self._world.backends[key].keys.register
        text = (node["metadata"].get("annotations") or {}).get(register) if register else None
        return text is not None and SAYS_NONE.fullmatch(text) is not None
