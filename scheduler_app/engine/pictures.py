"""The cluster state as people see it: nodes, cards and quotas as the frozen views of a publication."""

from collections.abc import Callable, Iterable, Mapping

from scheduler_app.core import annotations
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.predicate import Backends
from scheduler_app.core.publication import (
    CardView,
    NodeState,
    NodeView,
    OrphanView,
    PodShare,
    QuotaView,
    SliceView,
)
from scheduler_app.core.quota import NamespaceQuota
from scheduler_app.core.types import (
    NOTHING,
    Card,
    CardId,
    CardUsage,
    Node,
    NodeName,
    NodeUsage,
    VendorKey,
)
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.podbook import PodEntry
from scheduler_app.engine.unregistered import explanation

CARD_SLICES = 8


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
        selector: Mapping[str, str] = NOTHING,
    ) -> None:
        self._state = state
        self._backends = backends
        self._selector = selector
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
        self._units = _units(backends.values())

    def node(self, name: NodeName, usage: NodeUsage | None) -> NodeView | None:
        """Return a node's view; None when neither the informer nor the state knows it any more."""
        node = self._node(name) or (usage.node if usage else None)
        if node is None:
            return None
        problem = self._problems().get(name, "")
        if not problem and not (usage and usage.cards):
            problem = explanation(node, backends=self._backends, selector=self._selector)
        shares = _shares(self._state.pods_on(name)) if usage else {}
        return NodeView(
            name=name,
            version=usage.version if usage else 0,
            state=_state(node, usage),
            pool=next((node.labels[key] for key in annotations.POOL_LABELS if key in node.labels), ""),
            is_ready=node.is_ready,
            cards=self._cards(node, usage, shares) if usage else (),
            lock=node.annotations.get(annotations.NODE_LOCK, ""),
            handshakes=self._handshakes_of(node, usage),
            labels=dict(node.labels),
            registered_ms=self._registered_ms(),
            problem=problem,
            orphans=_orphans(usage, shares) if usage else (),
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

    def _cards(
        self, node: Node, usage: NodeUsage, shares: Mapping[CardId, Iterable[PodShare]]
    ) -> tuple[CardView, ...]:
        cordoned = {item.strip() for item in node.annotations.get(annotations.DEVICE_CORDON, "").split(",")}
        return tuple(self._card(card, shares.get(card.id, ()), card.id in cordoned) for card in usage.cards)

    def _card(self, usage: CardUsage, pods: Iterable[PodShare], is_cordoned: bool) -> CardView:
        card = usage.card
        return CardView(
            id=card.id,
            vendor=self._titles.get(card.vendor, card.vendor),
            model=card.type,
            index=card.index,
            mode=card.mode,
            numa=card.numa,
            healthy=usage.healthy,
            cordoned=is_cordoned,
            shares=(usage.shares_used, card.shares),
            mem_mib=(usage.mem_used_mib, card.mem_mib),
            cores=(usage.cores_used, card.cores),
            pods=tuple(pods),
            slices=tuple(SliceView(s.profile, s.placement.start, s.placement.size) for s in usage.slices),
            slice_total=_slice_total(card),
        )


def _state(node: Node, usage: NodeUsage | None) -> NodeState:
    if usage is None or not usage.cards:
        return "unregistered"
    if not node.is_ready:
        return "silent"
    return "cordoned" if node.is_unschedulable else "ok"


def _shares(entries: Iterable[PodEntry]) -> dict[CardId, list[PodShare]]:
    """Return who holds what, by card."""
    found: dict[CardId, list[PodShare]] = {}
    for entry in entries:
        pod, names = entry.pod, _containers_on(entry)
        for containers in entry.devices.values():
            for container in containers:
                for held in container:
                    found.setdefault(held.card, []).append(
                        PodShare(
                            pod.uid,
                            pod.namespace,
                            pod.name,
                            held.mem_mib,
                            held.cores,
                            held.shares,
                            pod.phase,
                            tuple(names.get(held.card, ())),
                        )
                    )
    return found


def _orphans(usage: NodeUsage, shares: Mapping[CardId, Iterable[PodShare]]) -> tuple[OrphanView, ...]:
    """Return what pods hold of cards that the node does not register: a replaced card, an odd text (F11)."""
    known = {card.id for card in usage.cards}
    return tuple(OrphanView(id, pod) for id in sorted(shares.keys() - known) for pod in shares[id])


def _containers_on(entry: PodEntry) -> dict[CardId, list[str]]:
    """Return which containers hold each card: segments are those of init containers first (P-8, F08)."""
    found: dict[CardId, list[str]] = {}
    all_containers = entry.pod.all_containers
    for segments in entry.raw.values():
        for container, segment in zip(all_containers, segments, strict=False):
            for held in segment:
                names = found.setdefault(held.card, [])
                if container.name not in names:
                    names.append(container.name)
    return found


def _slice_total(card: Card) -> int:
    """Return how many slices a card that is cut into instances has, 0 for others."""
    ends = [place.start + place.size for profile in card.profiles for place in profile.placements]
    return min(max(ends), CARD_SLICES) if ends else 0


def _units(backends: Iterable[DeviceBackend]) -> dict[str, str]:
    units = {}
    for backend in backends:
        if backend.names.mem:
            units[backend.names.mem] = backend.names.mem_unit
        if backend.names.cores:
            units[backend.names.cores] = "%"
    return units
