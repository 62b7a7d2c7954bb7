"""The packing strip: each GPU as a bar cut into its pods, the free piece at the end (console.md 6.5)."""

from dataclasses import dataclass
from typing import Literal

from dashboard import presenters
from scheduler_app.core.publication import CardView, NodeView, PodShare

Measure = Literal["memory", "cores", "shares"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a strip.

    ``width`` and ``start`` are in thousandths of the GPU; ``pod`` names who has it.
    """

    start: int
    width: int
    label: str
    detail: str
    pod: str = ""

    @property
    def x(self) -> str:
        return f"{self.start / 10:.1f}%"

    @property
    def w(self) -> str:
        return f"{self.width / 10:.1f}%"


@dataclass(frozen=True, slots=True)
class Strip:
    """``free`` is what is left of the measure by which the pods are laid: memory, or cores, or shares."""

    card: CardView
    pieces: tuple[Piece, ...]
    measure: Measure
    free: int


def strips(node: NodeView) -> list[Strip]:
    return [_strip(card) for card in node.cards]


def _strip(card: CardView) -> Strip:
    measure: Measure = "memory" if card.mem_mib else "cores" if card.cores else "shares"
    used, total = card.mem_mib or card.cores or card.shares
    pieces = _slices(card) if card.slices and card.slice_total else _pods(card, max(total, used, 1))
    return Strip(card, pieces, measure, max(total - used, 0))


def _pods(card: CardView, total: int) -> tuple[Piece, ...]:
    """Lay pods side by side, in their order; a pod that holds nothing of what is counted is not drawn."""
    start, found = 0, []
    for pod in card.pods:
        width = _held(card, pod) * 1000 // total
        if width:
            label = " ".join((pod.name, *(f"({part})" for part in pod.parts)))
            found.append(Piece(start, width, label, _detail(card, pod), f"{pod.namespace}/{pod.name}"))
        start += width
    return tuple(found)


def _held(card: CardView, pod: PodShare) -> int:
    if card.mem_mib:
        return pod.mem_mib or 0
    return pod.cores or 0 if card.cores else pod.shares


def _detail(card: CardView, pod: PodShare) -> str:
    """Return what is counted of the pod's part: ``"20.0 GiB, 30 %"``."""
    found = [presenters.memory(pod.mem_mib)] if pod.mem_mib is not None else []
    if pod.cores is not None:
        found.append(f"{pod.cores} {card.cores_unit}")
    return ", ".join((*found, *pod.parts)) or f"{pod.shares} / {card.shares[1]}"


def _slices(card: CardView) -> tuple[Piece, ...]:
    """Lay instances where they lie in the card. One that nobody has is free."""
    return tuple(
        Piece(
            start=part.start * 1000 // card.slice_total,
            width=part.size * 1000 // card.slice_total,
            label=": ".join(filter(None, (part.profile, part.pod.rpartition("/")[2]))),
            detail=part.profile,
            pod=part.pod,
        )
        for part in card.slices
    )
