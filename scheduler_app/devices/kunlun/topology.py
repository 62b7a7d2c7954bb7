"""Which Kunlun cards go together: two wings of four, each card linked to its partner (KL-5, KL-8, KL-9).

Parity: wings are places in the list, which the device policy has sorted; links are card numbers. On a node in
use the two need not agree, and both are kept as they are.
"""

from collections.abc import Sequence
from itertools import combinations

WING = 4
CARDS = 8
_WING_SIZES = {1: (1, 3, 2, 4), 2: (2, 3, 4), 4: (4,)}
"""For a number of cards, the numbers of free cards that a wing should have, best first."""
_QUADS = ((0, 1, 4, 5), (2, 3, 6, 7), (0, 2, 4, 6), (1, 3, 5, 7), (0, 3, 4, 7), (1, 2, 5, 6))


def select(indices: Sequence[int], passing: Sequence[bool], *, count: int) -> tuple[int, ...]:
    """Return the numbers of the cards to take, empty when nothing suits.

    ``indices`` are the cards' numbers in list order, ``passing`` says of each place whether its card is free.
    """
    left, right = sum(passing[:WING]), sum(passing[WING:])
    if count == CARDS:
        return tuple(range(CARDS)) if left + right == CARDS else ()
    for size in _WING_SIZES.get(count, ()):
        if max(left, right) < count:
            break
        if size in (left, right):
            return _pick(indices, passing, start=0 if left == size else WING, count=count)
    free = [index for index, passes in zip(indices, passing, strict=True) if passes]
    return _linked(free, count)


def bubble(indices: set[int]) -> int:
    """Return how a set of cards tears the wings: 0 for a full one, 2 for a lone card, else 1 (KL-11)."""
    if not indices:
        return 1
    left = sum(1 for index in indices if index < WING)
    cost = {WING: 0, 1: 2}
    return cost.get(left, 1) + cost.get(len(indices) - left, 1)


def _pick(indices: Sequence[int], passing: Sequence[bool], *, start: int, count: int) -> tuple[int, ...]:
    """Take the first free cards from ``start`` on; places beyond the eighth are not looked at (KL-9)."""
    places = (place for place in range(start, min(CARDS, len(indices))) if passing[place])
    return tuple(indices[place] for place in places)[:count]


def _linked(free: Sequence[int], count: int) -> tuple[int, ...]:
    """Take cards across the wings that are linked."""
    if count == 2:
        return next(((a, b) for a in free for b in free if abs(a - b) == WING and max(a, b) < CARDS), ())
    if count == WING:
        return _quad(set(free))
    return ()


def _quad(free: set[int]) -> tuple[int, ...]:
    """Take a linked four; of six free cards one that leaves two linked ones, if there is such a four."""
    found = [quad for quad in _QUADS if free.issuperset(quad)]
    if not found or len(free) not in (4, 5, 6):
        return ()
    if len(free) < 6:
        return found[0]
    return next((quad for quad in found if _are_linked(free.difference(quad))), found[-1])


def _are_linked(pair: set[int]) -> bool:
    """Say whether two cards are partners, or in one wing."""
    return any(
        max(a, b) < CARDS and (abs(a - b) == WING or a // WING == b // WING) for a, b in combinations(pair, 2)
    )
