"""The cluster state as people see it: nodes, cards and quotas as the frozen views of a publication."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from scheduler_app.core import annotations
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.display import Displayed
from scheduler_app.core.predicate import Backends
from scheduler_app.core.publication import CardView, NodeState, NodeView, PodShare, QuotaView, SliceView
from scheduler_app.core.quota import NamespaceQuota
from scheduler_app.core.types import (
    Allocation,
    Card,
    CardId,
    CardUsage,
    Node,
    NodeName,
    NodeUsage,
    Placement,
    Pod,
    PodUid,
    SliceInUse,
    VendorKey,
)
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.podbook import PodEntry

CARD_SLICES = 8
Place = tuple[PodUid, CardId]
Slices = dict[CardId, dict[Placement, str]]
"""Who has which instance of a card, ``"<namespace>/<name>"``."""
_UNKNOWN = Displayed()


class Pictures:
    """Makes views. ``titles`` are the vendors' names for people, by vendor key."""

    def __init__(
        self,
        *,
        state: ClusterState,
        backends: Backends,
        titles: Mapping[VendorKey, str],
        node: Callable[[NodeName], Node | None],
        problems: Callable[[], Mapping[NodeName, str]],
        registered_ms: Callable[[], int],
        quota_all_vendors: bool = False,
    ) -> None:
        self._state = state
        self._backends = backends
        self._titles = titles
        self._node = node
        self._problems = problems
        self._registered_ms = registered_ms
        self._handshakes = {key: b.keys.handshake for key, b in backends.items() if b.keys.handshake}
        self._enforced = {
            name
            for backend in backends.values()
            if backend.checks_quota or quota_all_vendors
            for name in (backend.names.mem, backend.names.cores)
        }
        self._units = quota_units(backends.values())

    def node(self, name: NodeName, usage: NodeUsage | None) -> NodeView | None:
        """Return a node's view; None when neither the informer nor the state knows it any more."""
        node = self._node(name) or (usage.node if usage else None)
        if node is None:
            return None
        problem = self._problems().get(name, "")
        return NodeView(
            name=name,
            version=usage.version if usage else 0,
            state=_state(node, usage),
            pool=next((node.labels[key] for key in annotations.POOL_LABELS if key in node.labels), ""),
            is_ready=node.is_ready,
            cards=self._cards(node, usage) if usage else (),
            lock=node.annotations.get(annotations.NODE_LOCK, ""),
            handshakes=self._handshakes_of(node, usage),
            labels=dict(node.labels),
            registered_ms=self._registered_ms(),
            problem=problem,
        )

    def quotas(self, quotas: Mapping[str, NamespaceQuota]) -> tuple[QuotaView, ...]:
        return tuple(
            QuotaView(
                namespace,
                resource,
                entry.used,
                entry.limit,
                entry.source,
                self._units.get(resource, ""),
                resource in self._enforced,
            )
            for namespace, quota in quotas.items()
            for resource, entry in sorted(quota.entries.items())
            if entry.limit is not None or entry.used
        )

    def _handshakes_of(self, node: Node, usage: NodeUsage | None) -> dict[str, str]:
        """Return the handshakes of vendors with cards there; nodes carry those of all vendors (Q-28)."""
        vendors = dict.fromkeys(card.card.vendor for card in usage.cards) if usage else {}
        keys = [self._handshakes[vendor] for vendor in vendors if vendor in self._handshakes]
        return {key: node.annotations[key] for key in keys if key in node.annotations}

    def _cards(self, node: Node, usage: NodeUsage) -> tuple[CardView, ...]:
        pods = self._state.pods_on(usage.name)
        cut = self._slices(pods, usage)
        cordoned = {item.strip() for item in node.annotations.get(annotations.DEVICE_CORDON, "").split(",")}
        views = (self._card(card, node, cut[card.id], card.id in cordoned) for card in usage.cards)
        held, parts = _held(pods), self._parts(pods)
        return tuple(
            replace(
                view,
                pods=tuple(
                    self._share(pod, allocation, view, card, parts) for pod, allocation in held[card.id]
                ),
            )
            for view, card in zip(views, usage.cards, strict=True)
        )

    def _card(
        self, usage: CardUsage, node: Node, holders: Mapping[Placement, str], is_cordoned: bool
    ) -> CardView:
        """Return a card without the pods on it."""
        card, vendor = usage.card, self._vendor(usage)
        return CardView(
            id=card.id,
            vendor=self._titles.get(card.vendor, card.vendor),
            model=card.type,
            index=card.index,
            mode=vendor.shown_mode(usage),
            numa=card.numa,
            healthy=usage.healthy,
            cordoned=is_cordoned,
            shares=vendor.shown_shares(usage),
            mem_mib=vendor.shown_memory(usage),
            cores=vendor.shown_cores(usage, node),
            slices=tuple(_slice(one, holders) for one in usage.slices),
            slice_total=_slice_total(card),
            cores_unit=vendor.cores_unit,
        )

    def _share(
        self, pod: Pod, held: Allocation, view: CardView, card: CardUsage, parts: Mapping[Place, list[str]]
    ) -> PodShare:
        names = [*parts.get((pod.uid, card.id), ()), *(s.profile for s in view.slices if s.pod == pod.key)]
        return PodShare(
            pod.uid,
            pod.namespace,
            pod.name,
            None if view.mem_mib is None else held.mem_mib,
            None if view.cores is None else self._vendor(card).held_cores(held.cores),
            held.shares,
            pod.phase,
            tuple(dict.fromkeys(names)),
        )

    def _vendor(self, card: CardUsage) -> Displayed:
        return self._backends.get(card.card.vendor, _UNKNOWN)

    def _parts(self, pods: Iterable[PodEntry]) -> dict[Place, list[str]]:
        """Return the vendors' names for what each pod holds of each card."""
        found: dict[Place, list[str]] = {}
        for entry in pods:
            for vendor, containers in entry.raw.items():
                part = self._backends[vendor].part
                for position, container in enumerate(containers):
                    for held in container:
                        if name := part(entry.pod, position, held):
                            found.setdefault((entry.pod.uid, held.card), []).append(name)
        return found

    def _slices(self, pods: Iterable[PodEntry], usage: NodeUsage) -> Slices:
        """Return which pod has reserved which instance of cards that are cut into such."""
        found: Slices = defaultdict(dict)
        cards = [card.card for card in usage.cards if card.card.profiles]
        if not cards:
            return found
        for entry in pods:
            for vendor, containers in entry.devices.items():
                effects = self._backends[vendor].slice_effects(entry.pod, containers, cards)
                for card, slices in effects.slices.items():
                    found[card].update(dict.fromkeys((one.placement for one in slices), entry.pod.key))
        return found


def _state(node: Node, usage: NodeUsage | None) -> NodeState:
    if usage is None or not usage.cards:
        return "unregistered"
    if not node.is_ready:
        return "silent"
    return "cordoned" if node.is_unschedulable else "ok"


def _held(entries: Iterable[PodEntry]) -> Mapping[CardId, list[tuple[Pod, Allocation]]]:
    """Return who holds what, by card; nothing for cards that nobody holds."""
    found: dict[CardId, list[tuple[Pod, Allocation]]] = defaultdict(list)
    for entry in entries:
        for containers in entry.devices.values():
            for container in containers:
                for held in container:
                    found[held.card].append((entry.pod, held))
    return found


def _slice(one: SliceInUse, holders: Mapping[Placement, str]) -> SliceView:
    place = one.placement
    return SliceView(one.profile, place.start, place.size, holders.get(place, ""))


def _slice_total(card: Card) -> int:
    """Return how many slices a card that is cut into instances has, 0 for others."""
    ends = [place.start + place.size for profile in card.profiles for place in profile.placements]
    return min(max(ends), CARD_SLICES) if ends else 0


def quota_units(backends: Iterable[DeviceBackend]) -> dict[str, str]:
    """Return what an amount of 1 is in a quota, by resource."""
    units = {}
    for backend in backends:
        if backend.names.mem:
            units[backend.names.mem] = backend.names.mem_unit
        if backend.names.cores:
            units[backend.names.cores] = backend.quota_cores_unit or backend.cores_unit
    return units
