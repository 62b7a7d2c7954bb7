"""Which Metax cards are linked: cards of one link zone reach each other directly (MXS-12, MXS-15)."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from scheduler_app.core.types import Card, CardId
from scheduler_app.devices.metax.inventory import LINK_ZONE

PAIR = 10

Linked = tuple[CardId, int]
"""A card and its zone."""


def zone(card: Card) -> int:
    """Return a card's link zone."""
    return int(card.custom.get(LINK_ZONE, 0))


def choose(candidates: Sequence[Linked], *, count: int) -> list[CardId]:
    """Take the smallest zone that holds ``count`` cards, else zone by zone, unlinked cards last (MXS-12).

    Equally large zones come in the order in which they first appear, which the reference leaves to chance.
    """
    groups: dict[int, list[CardId]] = {}
    for card, place in candidates:
        groups.setdefault(place, []).append(card)
    linked = sorted((cards for place, cards in groups.items() if place > 0), key=len)
    for cards in linked:
        if len(cards) >= count:
            return cards[:count]
    unlinked = [cards for place, cards in groups.items() if place <= 0]
    return [card for cards in (*linked, *unlinked) for card in cards][:count]


def score(taken: Sequence[Linked], idle: Sequence[Linked]) -> int:
    """Weigh the links inside ``taken`` against those that taking it from ``idle`` breaks up (MXS-15).

    Parity: equal negative zones count as linked here, and a card that an init container reuses still breaks
    links (MXS-E40).
    """
    gone = {card for card, _ in taken}
    rest = [pair for pair in idle if pair[0] not in gone]
    inside = _pairs(taken)
    return 10 * inside - (_pairs(idle) - inside - _pairs(rest))


def _pairs(cards: Iterable[Linked]) -> int:
    return PAIR * sum(
        1
        for (left, left_zone), (right, right_zone) in combinations(cards, 2)
        if left_zone == right_zone != 0 and left != right
    )
