"""The packing strip: each GPU as a bar cut into its pods, the free piece at the end (console.md 6.5)."""

from dataclasses import dataclass

from scheduler_app.core.publication import CardView, NodeView


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a strip.

    ``width`` and ``start`` are in thousandths of the GPU; ``pod`` is empty for a free slice.
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
    card: CardView
    pieces: tuple[Piece, ...]
    free_mib: int


def strips(node: NodeView) -> list[Strip]:
    return [Strip(card, _pieces(card), max(card.mem_mib[1] - card.mem_mib[0], 0)) for card in node.cards]


def _pieces(card: CardView) -> tuple[Piece, ...]:
    return _slices(card) if card.slices and card.slice_total else _pods(card)


def _pods(card: CardView) -> tuple[Piece, ...]:
    """Lay pods side by side by memory, in their order; a pod without memory is not drawn."""
    total, start, found = max(card.mem_mib[1], card.mem_mib[0], 1), 0, []
    for pod in card.pods:
        width = pod.mem_mib * 1000 // total
        detail = f"{pod.mem_mib / 1024:.1f} GiB, {pod.cores} {card.cores_unit}"
        if width:
            found.append(Piece(start, width, pod.name, detail, f"{pod.namespace}/{pod.name}"))
        start += width
    return tuple(found)


def _slices(card: CardView) -> tuple[Piece, ...]:
    """Lay instances where they lie in the card. Pods take instances in order, as far as the sizes tell."""
    pods = list(card.pods)
    found = []
    for part in card.slices:
        pod = pods.pop(0) if pods else None
        place = (part.start * 1000 // card.slice_total, part.size * 1000 // card.slice_total)
        label = f"{part.profile}: {pod.name}" if pod else part.profile
        found.append(Piece(*place, label, part.profile, f"{pod.namespace}/{pod.name}" if pod else ""))
    return tuple(found)
