"""Shapes: node states told apart by everything a decision can depend on except names, as small integers.

A cluster of thousands of nodes has few of them, and the outcome of a request is worked out once for each.
Cards count by position, so ids are left out; link scores are kept by the position of the other card. A node
on which two cards share an id is like no other (Q-44).

Not locked: ``cache.ClusterState`` owns one and calls it under its lock.
"""

import json
from collections.abc import Hashable, Mapping, Sequence

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import NOTHING, Card, CardId, CardUsage, Node, VendorKey

NO_SHAPE = -1
LIMIT = 100_000  # distinct states kept; beyond it the table starts anew, and old outcomes are never met again


class ShapeTable:
    def __init__(self, backends: Mapping[VendorKey, DeviceBackend]) -> None:
        default = DeviceBackend.node_traits
        self._with_traits = [b for b in backends.values() if type(b).node_traits is not default]
        self._shapes: dict[Hashable, int] = {}
        self._statics: dict[Hashable, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._shapes)

    def static(self, cards: Sequence[Card]) -> tuple[int, ...] | None:
        """Return what never changes about a node's cards, as integers; None when an id stands there twice."""
        places = {card.id: place for place, card in enumerate(cards)}
        if len(places) < len(cards):
            return None
        return tuple(self._intern(self._statics, _card_key(card, places)) for card in cards)

    def shape(self, node: Node, static: tuple[int, ...] | None, used: Sequence[CardUsage]) -> int:
        """Return the shape of a node; equal numbers are equal states."""
        if static is None:
            return NO_SHAPE
        state = tuple([
            (u.shares_used, u.mem_used_mib, u.cores_used, u.healthy, u.slices, u.marks, u.expected)
            for u in used
        ])  # fmt: skip
        return self._intern(self._shapes, (static, state, self._traits(node, used)))

    def _traits(self, node: Node, used: Sequence[CardUsage]) -> Hashable:
        cards = [usage.card for usage in used]
        return tuple(backend.node_traits(node, cards) for backend in self._with_traits)

    def _intern(self, table: dict[Hashable, int], key: Hashable) -> int:
        known = table.get(key)
        if known is None:
            if len(table) >= LIMIT:
                table.clear()
            self._next += 1
            known = table[key] = self._next
        return known


def _card_key(card: Card, places: Mapping[CardId, int]) -> Hashable:
    links = tuple(
        sorted((places[CardId(other)], score) for other, score in card.link_scores.items() if other in places)
    )
    custom = "" if card.custom is NOTHING else json.dumps(card.custom, sort_keys=True, default=str)
    return (
        card.vendor, card.type, card.index, card.shares, card.mem_mib, card.cores, card.numa, card.mode,
        card.healthy, card.profiles, custom, links,
    )  # fmt: skip
