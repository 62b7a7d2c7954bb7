"""Vendors whose cards are given whole, one for every unit of capacity (MX-2, GCU-2, KL-2)."""

from datetime import datetime
from typing import Any

from scheduler_app.core import registration_text
from scheduler_app.core.backend import WHOLE_CARD_CORES, Health
from scheduler_app.core.counted import CountedBackend
from scheduler_app.core.display import Asked, Pair
from scheduler_app.core.types import Card, CardId, CardRequest, CardUsage, Node


class WholeCardBackend(CountedBackend):
    """Cards are named ``"<node>-<card_word>-<index>"``; their model is the vendor key."""

    card_word = ""
    card_mem_mib = 0
    card_shares = 1

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        """Return the cards of the node's capacity; allocatable is not looked at, a negative amount is none.

        Raises:
            CodecError: there is no capacity, or more of it than a node can have.
        """
        resource = self.names.count
        count = registration_text.required_capacity(node, resource)
        positions = registration_text.card_positions(count, resource=resource)
        return tuple(self.card(node, index, count=count) for index in positions)

    def card(self, node: Node, index: int, *, count: int) -> Card:
        """Return one of ``count`` cards."""
        key = self.vendor_key
        name = CardId(f"{node.name}-{self.card_word}-{index}")
        return Card(name, key, key, index, self.card_shares, self.card_mem_mib, WHOLE_CARD_CORES)

    def shown_shares(self, card: CardUsage) -> Pair:
        """A card is one share, whatever number of them stands in its record (KL-2)."""
        return card.shares_used, 1

    def asked(self, request: CardRequest) -> Asked:
        """Nothing but the number of cards; the amounts are the same for every container."""
        return Asked()

    def health(self, node: Node, *, now: datetime, memory: Any = None) -> Health:
        """Healthy while there is capacity, and always up to date (MX-3, GCU-2)."""
        return Health(healthy=registration_text.capacity(node, self.names.count) > 0, needs_update=True)
