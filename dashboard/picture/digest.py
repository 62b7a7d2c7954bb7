"""Sums of one node, and sums over nodes kept by adding and taking away.

A tick costs what changed, not the cluster.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

from scheduler_app.core.publication import CardView, NodeView

PIECE_PARTS = 4
"""A piece, the unit of "what still fits", is a quarter of a GPU's memory."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Counts and amounts of a set of GPUs. Memory in MiB, cores as the vendor counts them (percent mostly).

    ``whole`` GPUs are untouched and usable; ``pieces`` are quarters that still fit; ``stranded_mib`` is free
    memory that nobody can have, because the GPU's cores or shares are gone.
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

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, name) + getattr(other, name) for name in _NAMES))

    def __sub__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, name) - getattr(other, name) for name in _NAMES))


_NAMES = tuple(field.name for field in fields(Sums))


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
        usable = node.state == "ok"
        models: dict[str, Sums] = {}
        for card in node.cards:
            models[card.model] = models.get(card.model, Sums()) + card_sums(card, usable=usable)
        return cls(
            name=node.name,
            total=sum(models.values(), Sums()),
            models=models,
            pods=len({pod.uid for card in node.cards for pod in card.pods}),
            largest_free_mib=max(
                (c.mem_mib[1] - c.mem_mib[0] for c in node.cards if _is_open(c, usable)), default=0
            ),
            unhealthy=tuple(card.id for card in node.cards if not card.healthy),
            drifted=tuple(card.id for card in node.cards if is_drifted(card)),
        )


def card_sums(card: CardView, *, usable: bool) -> Sums:
    """Return one GPU as sums. A GPU in trouble counts in totals but offers no room."""
    mem, cores, shares = card.mem_mib, card.cores, card.shares
    is_open = _is_open(card, usable)
    is_spent = shares[0] >= shares[1] or (cores[1] > 0 and cores[0] >= cores[1])
    free_mib = max(mem[1] - mem[0], 0)
    piece = mem[1] // PIECE_PARTS
    fitting = min(free_mib // piece, shares[1] - shares[0]) if piece and is_open and not is_spent else 0
    return Sums(
        1,
        int(card.healthy and usable),
        *(mem[0], mem[1], cores[0], cores[1], shares[0], shares[1]),
        whole=int(is_open and shares[0] == 0 and mem[0] == 0 and cores[0] == 0),
        pieces=fitting,
        stranded_mib=free_mib if is_open and is_spent else 0,
    )


def is_drifted(card: CardView) -> bool:
    """Say whether a GPU holds more than it has: pods and registration do not agree."""
    return any(used > total for used, total in (card.mem_mib, card.cores, card.shares))


def _is_open(card: CardView, usable: bool) -> bool:
    return usable and card.healthy and not card.cordoned
