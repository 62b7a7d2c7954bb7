"""The packing strip: each GPU as a bar cut into its pods, the free piece at the end (console.md 6.5)."""

from dataclasses import dataclass

from scheduler_app.core.publication import CardView, NodeView, PodShare


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
    """Lay instances where they lie in the card.

    Which pod has which instance is not known here, only sizes are: a pod is named where no other of its size
    could be meant; where several could, all are told in the detail. An instance of a size nobody has is free.
    """
    found = []
    for part in card.slices:
        alike = sum(other.profile == part.profile for other in card.slices)
        pods = [pod for pod in card.pods if _has_size(pod, part.profile)]
        names = [f"{pod.namespace}/{pod.name}" for pod in pods]
        is_sure = len(pods) == 1 and (alike == 1 or pods[0].shares >= alike)
        found.append(
            Piece(
                start=part.start * 1000 // card.slice_total,
                width=part.size * 1000 // card.slice_total,
                label=f"{part.profile}: {pods[0].name}" if is_sure else part.profile,
                detail=part.profile,
                pod=" / ".join(names),
            )
        )
    return tuple(found)


def _has_size(pod: PodShare, profile: str) -> bool:
    """Say whether a share of the pod can be an instance of ``"2g.20gb"``; memory is a little less."""
    digits = profile.partition(".")[2].removesuffix("gb")
    each_gib = pod.mem_mib / 1024 / max(pod.shares, 1)
    return digits.isdigit() and int(digits) - 2 < each_gib <= int(digits)
