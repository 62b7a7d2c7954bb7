"""Where is room: one row per model, with what still fits (console.md 6.1, point 5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboard.picture.digest import PIECE_PARTS, Digest, Sums


@dataclass(frozen=True, slots=True)
class Room:
    """What still fits of one model. ``piece_mib`` 0: its GPUs are given whole, or nobody counts their memory.

    ``block`` is the largest number of whole GPUs on one node, found on ``block_nodes`` nodes.
    """

    model: str
    sums: Sums
    piece_mib: int
    block: int
    block_nodes: int


def rooms(sums: Mapping[str, Sums], digests: Iterable[Digest]) -> list[Room]:
    """Return a row for each model, most GPUs first."""
    blocks = _blocks(digests)
    rows = []
    for model, total in sums.items():
        block, nodes = blocks.get(model, (0, 0))
        is_divided = total.shares_total > total.gpus > 0
        piece = total.mem_total // total.gpus // PIECE_PARTS if is_divided else 0
        rows.append(Room(model, total, piece, block, nodes))
    return sorted(rows, key=lambda row: (-row.sums.gpus, row.model))


def _blocks(digests: Iterable[Digest]) -> dict[str, tuple[int, int]]:
    """Return per model the largest block of whole GPUs and the number of nodes that have one."""
    best: dict[str, tuple[int, int]] = {}
    for digest in digests:
        for model, sums in digest.models.items():
            if whole := sums.whole:
                size, nodes = best.get(model, (0, 0))
                if whole >= size:
                    best[model] = (whole, nodes + 1 if whole == size else 1)
    return best
