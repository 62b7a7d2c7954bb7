"""Which cards lie close together: 910C modules, and groups on one network. Rules ASC-42, ASC-47 to ASC-51."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from scheduler_app.core import reasons
from scheduler_app.core.fit import FitResult, FitRun
from scheduler_app.core.float32 import f32
from scheduler_app.core.types import Allocation, CardUsage, Containers, Custom, VendorKey

NETWORK = "NetworkID"
CARDS_A_MODULE = 2


def is_known(cards: Sequence[CardUsage]) -> bool:
    """Say whether every card, healthy or not, names its network, whatever the value is (ASC-42)."""
    return all(NETWORK in card.card.custom for card in cards)


def network(custom: Custom) -> int | None:
    """Return the network's number, fractions dropped, or None where it is no number (ASC-49)."""
    value = custom.get(NETWORK)
    return math.trunc(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def pair_up(run: FitRun) -> FitResult:
    """Take whole modules in the order in which their first card was seen (ASC-47; the reference's varies).

    Parity: an odd number never fits, and the text counts against the cards asked for (ASC-E44). A node that
    registers no indices has the card it showed last stand for all of them (ASC-E46).
    """
    modules: dict[int, list[int]] = {}
    by_index: dict[int, Allocation] = {}
    for allocation in run.taken:
        modules.setdefault(allocation.index // CARDS_A_MODULE, []).append(allocation.index)
        by_index[allocation.index] = allocation
    chosen: list[Allocation] = []
    for indices in modules.values():
        if len(indices) == CARDS_A_MODULE and len(chosen) < run.request.cards:
            chosen += [by_index[index] for index in indices]
    if len(chosen) == run.request.cards:
        return FitResult(tuple(chosen))
    counts = {**run.refused, reasons.CARDS_INSUFFICIENT: len(chosen)}
    return FitResult.refused(counts, cards=run.request.cards)


def closest(run: FitRun, *, vendor: VendorKey) -> list[Allocation]:
    """Return the cards of the largest network groups, equal ones in the order they were seen (ASC-49).

    Parity: cards of another vendor or without a number are left out, and the rest is a success even when it
    is fewer than asked, or none (ASC-E40, ASC-E48).
    """
    customs = {card.id: card.card.custom for card in run.cards if card.card.vendor == vendor}
    groups: dict[int, list[Allocation]] = {}
    for allocation in run.taken:
        number = network(customs.get(allocation.card, {}))
        if number is not None:
            groups.setdefault(number, []).append(allocation)
    ordered = sorted(groups.values(), key=len, reverse=True)
    return [allocation for group in ordered for allocation in group][: run.request.cards]


def score(containers: Containers) -> float:
    """Return ten times the share of each container's cards in its largest network, summed, float32 (ASC-50).

    0 as soon as one card does not name its network (ASC-51).
    """
    total = 0.0
    for container in containers:
        if any(NETWORK not in allocation.custom for allocation in container):
            return 0.0
        sizes = _sizes([allocation.custom for allocation in container])
        if sizes:
            total = f32(total + f32(max(sizes) / sum(sizes)))
    return f32(total * 10)


def _sizes(customs: Sequence[Mapping[str, object]]) -> list[int]:
    numbers = (network(custom) for custom in customs)
    return list(Counter(number for number in numbers if number is not None).values())
