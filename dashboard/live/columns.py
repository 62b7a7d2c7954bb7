"""Every GPU of the cluster as columns, and the list that gives each GPU and node its index (console.md 7.2).

Within an epoch an index is never used again: a node that comes, or comes back with other cards, gets new
ones and leaves a hole.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scheduler_app.core.publication import CardView, NodeView

NOT_COUNTED: Final = (0, 0)
OK, UNHEALTHY, SILENT, GONE, UNREGISTERED, CORDONED = range(6)
_NODE_CODES: Final = {
    "ok": OK,
    "silent": SILENT,
    "gone": GONE,
    "unregistered": UNREGISTERED,
    "cordoned": CORDONED,
}


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns as of one revision, copied so that no reader sees them change.

    Amounts: MiB, percent of the GPU, shares.
    """

    mem_used: Sequence[int]
    cores_used: Sequence[int]
    shares_used: Sequence[int]
    state: Sequence[int]
    node_state: Sequence[int]


@dataclass(frozen=True, slots=True)
class Topology:
    """The list of nodes and GPUs as of ``number``. A node that is gone has the name None.

    A GPU's total of 0 is an amount that its vendor does not count.
    """

    number: int
    names: tuple[str | None, ...]
    pools: tuple[int, ...]
    models: tuple[int, ...]
    first: tuple[int, ...]
    ids: tuple[str, ...]
    mem: tuple[int, ...]
    cores: tuple[int, ...]
    shares: tuple[int, ...]
    model_names: tuple[str, ...]
    pool_names: tuple[str, ...]


@dataclass(slots=True)
class _Block:
    node: int
    first: int
    shape: tuple[tuple[str, int, int, int], ...]


@dataclass(slots=True)
class TopologyChange:
    """Nodes added and gone since the topology with the number ``base``."""

    base: int
    added: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)


class Fleet:
    """The columns of this process. Changed by the event loop only."""

    def __init__(self) -> None:
        self.number = 1
        self._blocks: dict[str, _Block] = {}
        self._names: list[str | None] = []
        self._pools: list[int] = []
        self._models: list[int] = []
        self._first: list[int] = []
        self._ids: list[str] = []
        self._totals = (array("q"), array("q"), array("q"))
        self._used = (array("q"), array("q"), array("q"))
        self._state = array("b")
        self._node_state = array("b")
        self._model_index: dict[str, int] = {}
        self._pool_index: dict[str, int] = {}
        self._frozen: Topology | None = None

    def apply(
        self, nodes: Iterable[NodeView], gone: Iterable[str]
    ) -> tuple[set[int], set[int], TopologyChange | None]:
        """Take new values; return the GPUs and the nodes that changed, and the change of the list, if any."""
        cells: set[int] = set()
        rows: set[int] = set()
        change = TopologyChange(self.number)
        for name in gone:
            self._remove(name, change)
        for node in nodes:
            self._put(node, cells, rows, change)
        if not (change.added or change.gone):
            return cells, rows, None
        self.number, self._frozen = self.number + 1, None
        return cells, rows, change

    def columns(self) -> Columns:
        mem, cores, shares = (column[:] for column in self._used)
        return Columns(mem, cores, shares, self._state[:], self._node_state[:])

    def topology(self) -> Topology:
        if self._frozen is None:
            mem, cores, shares = self._totals
            self._frozen = Topology(
                self.number, tuple(self._names), tuple(self._pools), tuple(self._models), tuple(self._first),
                tuple(self._ids), tuple(mem), tuple(cores), tuple(shares),
                model_names=tuple(self._model_index), pool_names=tuple(self._pool_index),
            )  # fmt: skip
        return self._frozen

    def _remove(self, name: str, change: TopologyChange) -> None:
        if block := self._blocks.pop(name, None):
            self._names[block.node] = None
            change.gone.append(block.node)

    def _put(self, node: NodeView, cells: set[int], rows: set[int], change: TopologyChange) -> None:
        shape = tuple(_totals(card) for card in node.cards)
        block = self._blocks.get(node.name)
        if block is None or block.shape != shape:
            self._remove(node.name, change)
            block = self._add(node, shape)
            change.added.append(block.node)
            cells.update(range(block.first, block.first + len(shape)))
        if self._node_state[block.node] != (code := _NODE_CODES[node.state]):
            self._node_state[block.node] = code
            rows.add(block.node)
        for offset, card in enumerate(node.cards):
            if self._set_cell(block.first + offset, card, node):
                cells.add(block.first + offset)

    def _add(self, node: NodeView, shape: tuple[tuple[str, int, int, int], ...]) -> _Block:
        block = self._blocks[node.name] = _Block(len(self._names), len(self._ids), shape)
        model = node.cards[0].model if node.cards else ""
        self._names.append(node.name)
        self._pools.append(self._pool_index.setdefault(node.pool, len(self._pool_index)))
        self._models.append(self._model_index.setdefault(model, len(self._model_index)))
        self._first.append(block.first)
        self._node_state.append(_NODE_CODES[node.state])
        for card_id, *totals in shape:
            self._ids.append(card_id)
            self._state.append(OK)
            for column, used, total in zip(self._totals, self._used, totals, strict=True):
                column.append(total)
                used.append(0)
        return block

    def _set_cell(self, index: int, card: CardView, node: NodeView) -> bool:
        values = tuple(used for used, _total in amounts(card))
        state = card_state(card, node)
        if self._state[index] == state and tuple(column[index] for column in self._used) == values:
            return False
        self._state[index] = state
        for column, value in zip(self._used, values, strict=True):
            column[index] = value
        return True


def amounts(card: CardView) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Return memory, cores and shares as (used, total); a total of 0 is an amount that nobody counts."""
    return card.mem_mib or NOT_COUNTED, card.cores_percent or NOT_COUNTED, card.shares


def _totals(card: CardView) -> tuple[str, int, int, int]:
    (_mem, mem), (_cores, cores), (_shares, shares) = amounts(card)
    return card.id, mem, cores, shares


def card_state(card: CardView, node: NodeView) -> int:
    """Return the state code of one GPU: the node's trouble first, because it makes the card's own unknown."""
    if node.state in ("silent", "gone", "unregistered"):
        return _NODE_CODES[node.state]
    if not card.healthy:
        return UNHEALTHY
    return CORDONED if card.cordoned or node.state == "cordoned" else OK


def topology_json(topology: Topology, epoch: str) -> dict[str, Any]:
    """Return the topology as the browser's columns (console.md 7.3)."""
    return {
        "epoch": epoch,
        "topo": topology.number,
        "nodes": {
            "name": topology.names,
            "pool": topology.pools,
            "model": topology.models,
            "first": topology.first,
        },
        "gpus": {
            "id": topology.ids,
            "mem_mib": topology.mem,
            "cores": topology.cores,
            "shares": topology.shares,
        },
        "models": topology.model_names,
        "pools": topology.pool_names,
    }


def added_json(topology: Topology, change: TopologyChange) -> dict[str, Any]:
    """Return the ``topo`` frame's ``add``: new nodes in the order of their indexes, with their GPUs."""
    ends = (*topology.first, len(topology.ids))
    gpus = [gpu for node in change.added for gpu in range(ends[node], ends[node + 1])]
    return {
        "index": change.added,
        "name": [topology.names[node] for node in change.added],
        "pool": [topology.pools[node] for node in change.added],
        "model": [topology.models[node] for node in change.added],
        "first": [topology.first[node] for node in change.added],
        "gpus": {
            "id": [topology.ids[gpu] for gpu in gpus],
            "mem_mib": [topology.mem[gpu] for gpu in gpus],
            "cores": [topology.cores[gpu] for gpu in gpus],
            "shares": [topology.shares[gpu] for gpu in gpus],
        },
    }
