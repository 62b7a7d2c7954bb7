"""Sums of one node, and sums over nodes kept by adding and taking away.

A tick costs what changed, not the cluster.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import add, sub
from typing import NamedTuple, Self

from scheduler_app.core.publication import CardView, NodeView

NOT_COUNTED = (0, 0)
PIECE_PARTS = 4
"""A piece, the unit of "what still fits", is a quarter of a GPU's memory."""


class Sums(NamedTuple):
    """Counts and amounts of a set of GPUs. Memory in MiB, cores in percent of one GPU, whatever its unit.

    GPUs whose vendor does not count an amount are in neither part of that pair.

    ``whole`` GPUs are untouched and usable; ``pieces`` are quarters that still fit; ``stranded_mib`` is free
    memory that nobody can have, because the GPU's cores or shares are gone. A tuple, because forty thousand
    of them are added when a picture comes.
    """

    gpus: int = 0
    healthy: int = 0
    mem_used: int = 0
    mem_total: int = 0
    cores_used: int = 0
    cores_total: int = 0
    shares_used: int = 0
    shares_total: int = 0
    whole: int = 0
    pieces: int = 0
    stranded_mib: int = 0

    @property
    def mem_mib(self) -> list[int] | None:
        return counted(self.mem_used, self.mem_total, gpus=self.gpus)

    @property
    def cores(self) -> list[int] | None:
        return counted(self.cores_used, self.cores_total, gpus=self.gpus)

    @property
    def shares(self) -> list[int]:
        return [self.shares_used, self.shares_total]

    def plus(self, other: "Sums") -> "Sums":
        return Sums._make(map(add, self, other))

    def minus(self, other: "Sums") -> "Sums":
        return Sums._make(map(sub, self, other))


def total_of(parts: Iterable[Sums]) -> Sums:
    total = Sums()
    for part in parts:
        total = total.plus(part)
    return total


@dataclass(frozen=True, slots=True)
class Digest:
    """One node in numbers. ``unhealthy`` and ``drifted`` hold ids of GPUs; ``pods`` counts distinct pods."""

    name: str
    total: Sums
    models: Mapping[str, Sums]
    pods: int
    largest_free_mib: int
    unhealthy: tuple[str, ...]
    drifted: tuple[str, ...]

    @classmethod
    def of(cls, node: NodeView) -> Self:
        usable, cards = node.state == "ok", node.cards
        models: dict[str, Sums] = {}
        for card in cards:
            sums, before = card_sums(card, usable=usable), models.get(card.model)
            models[card.model] = before.plus(sums) if before else sums
        usable_cards = [card for card in cards if usable and card.healthy and not card.cordoned]
        free = [card.mem_mib[1] - card.mem_mib[0] for card in usable_cards if card.mem_mib]
        return cls(
            name=node.name,
            total=total_of(models.values()),
            models=models,
            pods=len({pod.uid for card in cards for pod in card.pods}),
            largest_free_mib=max(free, default=0),
            unhealthy=tuple(card.id for card in cards if not card.healthy),
            drifted=tuple(card.id for card in cards if is_drifted(card)),
        )


def card_sums(card: CardView, *, usable: bool) -> Sums:
    """Return one GPU as sums. A GPU in trouble counts in totals but offers no room."""
    (mem, mem_total), (cores, cores_total) = card.mem_mib or NOT_COUNTED, card.cores_percent or NOT_COUNTED
    shares, shares_total = card.shares
    is_well = usable and card.healthy
    whole = pieces = stranded = 0
    if is_well and not card.cordoned and (mem < mem_total or not mem_total):
        if shares >= shares_total or cores >= cores_total > 0:
            stranded = mem_total - mem
        else:
            whole = int(not (shares or mem or cores))
            pieces = _pieces(mem_total - mem, mem_total // PIECE_PARTS, shares_total, shares)
    return Sums(
        1, int(is_well), mem, mem_total, cores, cores_total, shares, shares_total, whole, pieces, stranded
    )


def _pieces(free: int, piece: int, shares_total: int, shares: int) -> int:
    """Return how many quarters fit; a GPU of one share is not divided."""
    return min(free // piece, shares_total - shares) if piece and shares_total > 1 else 0


def is_drifted(card: CardView) -> bool:
    """Say whether a GPU holds more than it has: pods and registration do not agree."""
    pairs = [card.mem_mib, card.shares]
    if not card.slices:  # instances' percentages are rounded, so their sum may pass 100
        pairs.append(card.cores)
    return any(pair is not None and pair[0] > pair[1] for pair in pairs)


def counted(used: int, total: int, *, gpus: int) -> list[int] | None:
    """Return a (used, total) pair, or None where there are GPUs and none of them counts the amount."""
    return None if gpus and not total else [used, total]
