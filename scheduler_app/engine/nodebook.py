"""Nodes and what is placed on them: one entry a node, its usage worked out again only after it changed.

Not locked: ``cache.ClusterState`` owns one and calls it under its lock.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import (
    Card,
    CardId,
    CardUsage,
    Containers,
    Devices,
    Node,
    NodeName,
    NodeUsage,
    Pod,
    PodUid,
    SliceInUse,
    VendorKey,
)
from scheduler_app.engine.shapetable import ShapeTable

Backends = Mapping[VendorKey, DeviceBackend]
_NO_EFFECTS = DeviceBackend.slice_effects


class Snapshot(NamedTuple):
    """Registered nodes at one moment, the caller's own copy, and beside them their shapes.

    The shape is in the node too; thousands of them are read faster where they lie together.
    """

    nodes: dict[NodeName, NodeUsage]
    shapes: dict[NodeName, int]


@dataclass(slots=True)
class Held:
    """What one counted pod holds on its node: its effective devices (M-12)."""

    pod: Pod
    devices: Devices


@dataclass(slots=True)
class _Entry:
    node: Node
    vendors: dict[VendorKey, tuple[Card, ...]]
    version: int
    cards: tuple[Card, ...] = ()  # all vendors', in ascending key order
    static: tuple[int, ...] | None = None  # see ``shapetable``


@dataclass(slots=True)
class NodeBook:
    """``pods`` are kept by node name also for nodes that are not registered (yet): they count once it is.

    ``expected`` is what decisions expect of cards that are not registered so yet; it outlives pods (MXS-4).
    """

    backends: Backends
    revision: int = 0
    changed: set[NodeName] = field(default_factory=set)
    pods: dict[NodeName, dict[PodUid, Held]] = field(default_factory=dict)
    expected: dict[CardId, str] = field(default_factory=dict)
    holders: dict[CardId, set[NodeName]] = field(default_factory=dict)
    _entries: dict[NodeName, _Entry] = field(default_factory=dict)
    _usages: dict[NodeName, NodeUsage] = field(default_factory=dict)
    _stale: set[NodeName] = field(default_factory=set)
    _shape_of: dict[NodeName, int] = field(default_factory=dict)
    _shapes: ShapeTable = field(init=False)

    def __post_init__(self) -> None:
        self._shapes = ShapeTable(self.backends)

    def __contains__(self, name: NodeName) -> bool:
        return name in self._entries

    def names(self) -> Collection[NodeName]:
        return self._entries.keys()

    @property
    def distinct(self) -> int:
        """How many different node states have been seen."""
        return len(self._shapes)

    def vendors(self, name: NodeName) -> frozenset[VendorKey]:
        entry = self._entries.get(name)
        return frozenset(entry.vendors) if entry else frozenset()

    def usage(self, name: NodeName) -> NodeUsage | None:
        """Return the node as it is now, or None when it is not registered."""
        if name in self._stale:
            self._work_out(name)
        return self._usages.get(name)

    def snapshot(self) -> "Snapshot":
        """Return every registered node as it is now."""
        for name in tuple(self._stale):
            self._work_out(name)
        return Snapshot(dict(self._usages), dict(self._shape_of))

    def _work_out(self, name: NodeName) -> None:
        self._stale.discard(name)
        entry = self._entries.get(name)
        if entry is None:
            self._usages.pop(name, None)
            self._shape_of.pop(name, None)
            return
        used = tuple(self._with_expected(_use(self.backends, entry.cards, self.pods.get(name, {}).values())))
        shape = self._shapes.shape(entry.node, entry.static, used)
        self._usages[name] = NodeUsage(entry.node, entry.version, used, shape)
        self._shape_of[name] = shape

    def _set_cards(self, name: NodeName, entry: _Entry) -> None:
        """Note the cards of all vendors, and who holds which id."""
        self._drop_holder(name, entry.cards)
        entry.cards = tuple(card for vendor in sorted(entry.vendors) for card in entry.vendors[vendor])
        entry.static = self._shapes.static(entry.cards)
        for card in entry.cards:
            self.holders.setdefault(card.id, set()).add(name)

    def _drop_holder(self, name: NodeName, cards: Iterable[Card]) -> None:
        for card in cards:
            holders = self.holders.get(card.id)
            if holders is not None:
                holders.discard(name)
                if not holders:
                    del self.holders[card.id]

    def merge(self, node: Node, vendors: Mapping[VendorKey, tuple[Card, ...]]) -> None:
        """Replace the lists of the given vendors and the node object; nothing given changes nothing (M-2)."""
        entry = self._entries.get(node.name)
        if self._confirm(vendors):
            self.touch(node.name)
        if entry is None:
            entry = self._entries[node.name] = _Entry(node, dict(vendors), 0)
        elif entry.node == node and all(entry.vendors.get(key) == cards for key, cards in vendors.items()):
            return
        else:
            entry.node = node
            entry.vendors.update(vendors)
        self._set_cards(node.name, entry)
        self.touch(node.name)

    def expect(self, name: NodeName, devices: Devices) -> Mapping[CardId, str | None]:
        """Note what a decision expects of the cards it gives (MXS-14) and return what was expected before."""
        taken = (a for containers in devices.values() for container in containers for a in container)
        fresh = {a.card: a.expects for a in taken if a.expects is not None}
        before = {card: self.expected.get(card) for card in fresh}
        if fresh:
            self.expected.update(fresh)
            self.touch(name)
        return before

    def expect_again(self, name: NodeName, before: Mapping[CardId, str | None]) -> None:
        """Put back what was expected before a decision that is undone."""
        for card, text in before.items():
            if text is None:
                self.expected.pop(card, None)
            else:
                self.expected[card] = text
        if before:
            self.touch(name)

    def _confirm(self, vendors: Mapping[VendorKey, tuple[Card, ...]]) -> bool:
        """Drop expectations that cards now meet, and say whether there were any (MXS-4)."""
        if not self.expected:
            return False
        met = [
            card.id
            for vendor, cards in vendors.items()
            for card in cards
            if card.id in self.expected and self.backends[vendor].confirms(card, self.expected[card.id])
        ]
        for card_id in met:
            del self.expected[card_id]
        return bool(met)

    def _with_expected(self, used: tuple[CardUsage, ...]) -> Iterable[CardUsage]:
        if not self.expected:
            return used
        return (replace(usage, expected=self.expected.get(usage.id)) for usage in used)

    def refresh(self, node: Node) -> None:
        """Replace the node object of a registered node (Q-3)."""
        entry = self._entries.get(node.name)
        if entry is None or entry.node == node:
            return
        matters = _scheduling_view(entry.node) != _scheduling_view(node)
        entry.node = node
        if matters:
            self.touch(node.name)

    def drop_vendor(self, name: NodeName, vendor: VendorKey) -> None:
        """Forget a vendor's cards; a node without vendors leaves (M-3)."""
        entry = self._entries.get(name)
        if entry is None or entry.vendors.pop(vendor, None) is None:
            return
        self._set_cards(name, entry)
        if not entry.vendors:
            del self._entries[name]
        self.touch(name)

    def drop(self, name: NodeName) -> None:
        """Forget a node; the pods on it stay counted until they go themselves (M-6, Q-47)."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self._drop_holder(name, entry.cards)
            self.touch(name)

    def put_pod(self, name: NodeName, held: Held) -> None:
        self.pods.setdefault(name, {})[held.pod.uid] = held
        self.touch(name)

    def drop_pod(self, name: NodeName, uid: PodUid) -> None:
        on_node = self.pods.get(name, {})
        if on_node.pop(uid, None) is not None:
            if not on_node:
                del self.pods[name]
            self.touch(name)

    def touch(self, name: NodeName) -> None:
        """Note a change: a new revision, and the node's usage is worked out again when somebody asks."""
        self.revision += 1
        self.changed.add(name)
        entry = self._entries.get(name)
        self._stale.add(name)
        if entry is not None:
            entry.version = self.revision


def _scheduling_view(node: Node) -> tuple[object, ...]:
    """Return what of a node's object can change a decision or the console; heartbeats change neither."""
    return node.annotations, node.labels, node.is_ready, node.is_unschedulable


class _CardTally:
    """The use of one card while a node's pods are added up."""

    __slots__ = ("cores", "healthy", "marks", "mem", "shares", "slices")

    def __init__(self, card: Card) -> None:
        self.shares = self.mem = self.cores = 0
        self.healthy = card.healthy
        self.slices: list[SliceInUse] = []
        self.marks: list[str] = []


def _use(backends: Backends, cards: Sequence[Card], pods: Iterable[Held]) -> tuple[CardUsage, ...]:
    """Add up every pod on its cards (M-16 to M-22); equal ids all count (Parity: Q-44)."""
    tallies = [_CardTally(card) for card in cards]
    by_id: dict[CardId, list[_CardTally]] = {}
    for card, tally in zip(cards, tallies, strict=True):
        by_id.setdefault(card.id, []).append(tally)
    own: dict[VendorKey, list[Card]] = {}
    for card in cards:
        own.setdefault(card.vendor, []).append(card)
    for held in pods:
        for vendor, containers in held.devices.items():
            _add(backends.get(vendor), held.pod, containers, own.get(vendor, ()), by_id)
    return tuple(_usage(card, tally) for card, tally in zip(cards, tallies, strict=True))


def _add(
    backend: DeviceBackend | None,
    pod: Pod,
    containers: Containers,
    cards: Sequence[Card],
    by_id: Mapping[CardId, list[_CardTally]],
) -> None:
    """Add what a pod holds of one vendor, whose cards on the node are ``cards``."""
    mark = backend.pod_mark(pod) if backend else ""
    for container in containers:
        for allocation in container:
            for tally in by_id.get(allocation.card, ()):
                tally.shares += max(allocation.shares, 1)
                tally.mem += allocation.mem_mib
                tally.cores += allocation.cores
                tally.marks.append(mark)
    if (
        backend is None or type(backend).slice_effects is _NO_EFFECTS
    ):  # most vendors: a call saved for each pod
        return
    effects = backend.slice_effects(pod, containers, cards)
    for card_id, slices in effects.slices.items():
        for tally in by_id.get(card_id, ()):
            tally.slices.extend(slices)
    for card_id in effects.unhealthy:
        for tally in by_id.get(card_id, ()):
            tally.healthy = False


def _usage(card: Card, tally: _CardTally) -> CardUsage:
    return CardUsage(
        card,
        tally.shares,
        tally.mem,
        tally.cores,
        tally.healthy,
        tuple(tally.slices),
        tuple(sorted(tally.marks)),
        card.custom,
    )
