"""The cluster state as people see it: nodes, cards and quotas as the frozen views of a publication."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace

from scheduler_app.core import annotations
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.display import Displayed
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
    Placement,
    SliceInUse,
    VendorKey,
)
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.holdings import Holding, Place, Slices, holdings, parts, slices
from scheduler_app.engine.unregistered import explanation

CARD_SLICES = 8
Held = Mapping[CardId, list[Holding]]
_Shown = tuple[tuple[CardView, ...], tuple[OrphanView, ...]]
PartNames = Mapping[Place, list[str]]
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
        selector: Mapping[str, str] = NOTHING,
    ) -> None:
        self._state = state
        self._backends = backends
        self._selector = selector
        self._titles = titles
        self._node = node
        self._problems = problems
        self._problems_told: Mapping[NodeName, str] = NOTHING
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
        if not problem and not (usage and usage.cards):
            problem = explanation(node, backends=self._backends, selector=self._selector)
        cards, orphans = self._of_node(node, usage)
        return NodeView(
            name=name,
            version=usage.version if usage else 0,
            state=_state(node, usage),
            pool=next((node.labels[key] for key in annotations.POOL_LABELS if key in node.labels), ""),
            is_ready=node.is_ready,
            cards=cards,
            lock=node.annotations.get(annotations.NODE_LOCK, ""),
            handshakes=self._handshakes_of(node, usage),
            labels=dict(node.labels),
            registered_ms=self._registered_ms(),
            problem=problem,
            orphans=orphans,
        )

    def retold(self) -> set[NodeName]:
        """Return the nodes whose problem became another since the last call; nothing else tells of them."""
        before, self._problems_told = self._problems_told, self._problems()
        if before is self._problems_told:  # as a rule: passes are rare
            return set()
        names = before.keys() | self._problems_told.keys()
        return {name for name in names if before.get(name) != self._problems_told.get(name)}

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

    def _of_node(self, node: Node, usage: NodeUsage | None) -> _Shown:
        """Return the node's cards, and what pods hold beside them: of an unregistered node all of it."""
        if usage is None and not self._registered_ms():
            return (), ()  # registration has not looked yet
        pods, used = self._state.pods_on(node.name), usage.cards if usage else ()
        cards = [card.card for card in used]
        held, named = holdings(pods), parts(pods, backends=self._backends)
        views = self._cards(node, used, slices(pods, cards=cards, backends=self._backends))
        full = (
            replace(view, pods=self._shares(held.get(CardId(view.id), ()), view, named)) for view in views
        )
        return tuple(full), self._orphans(node, {card.id for card in cards}, held, named)

    def _cards(self, node: Node, used: Iterable[CardUsage], cut: Slices) -> Iterator[CardView]:
        """Return the cards without the pods on them."""
        cordoned = {item.strip() for item in node.annotations.get(annotations.DEVICE_CORDON, "").split(",")}
        return (self._card(card, node, cut[card.id], card.id in cordoned) for card in used)

    def _card(
        self, usage: CardUsage, node: Node, holders: Mapping[Placement, str], is_cordoned: bool
    ) -> CardView:
        """Return a card without the pods on it."""
        card, vendor = usage.card, self._vendor(usage.card.vendor)
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

    def _shares(self, held: Iterable[Holding], view: CardView, named: PartNames) -> tuple[PodShare, ...]:
        """Return what pods hold of a card, in the amounts that are counted of it."""
        return tuple(
            self._share(
                one,
                [*_named(one, named), *(s.profile for s in view.slices if s.pod == one.pod.key)],
                mem_mib=None if view.mem_mib is None else one.held.mem_mib,
                has_cores=view.cores is not None,
            )
            for one in held
        )

    def _orphans(
        self, node: Node, known: Container[CardId], held: Held, named: PartNames
    ) -> tuple[OrphanView, ...]:
        """Return what pods hold of cards that the node does not register: replaced, or an odd text (F11)."""
        return tuple(
            self._orphan(node, one, _named(one, named))
            for id in sorted(held.keys())
            if id not in known
            for one in held[id]
        )

    def _orphan(self, node: Node, one: Holding, names: Iterable[str]) -> OrphanView:
        """Count what the vendor would of a card with just these amounts: nobody knows the card itself."""
        vendor, held = self._vendor(one.vendor), one.held
        card = CardUsage.idle(Card(held.card, one.vendor, held.type, 0, 1, held.mem_mib, held.cores))
        mem_mib = None if vendor.shown_memory(card) is None else held.mem_mib
        share = self._share(one, names, mem_mib=mem_mib, has_cores=vendor.shown_cores(card, node) is not None)
        return OrphanView(held.card, share, vendor.cores_unit)

    def _share(self, one: Holding, names: Iterable[str], *, mem_mib: int | None, has_cores: bool) -> PodShare:
        return PodShare(
            one.pod.uid,
            one.pod.namespace,
            one.pod.name,
            mem_mib,
            self._vendor(one.vendor).held_cores(one.held.cores) if has_cores else None,
            one.held.shares,
            one.pod.phase,
            parts=tuple(dict.fromkeys(names)),
            containers=one.containers,
        )

    def _vendor(self, key: VendorKey) -> Displayed:
        return self._backends.get(key, _UNKNOWN)


def _state(node: Node, usage: NodeUsage | None) -> NodeState:
    if usage is None or not usage.cards:
        return "unregistered"
    if not node.is_ready:
        return "silent"
    return "cordoned" if node.is_unschedulable else "ok"


def _named(one: Holding, named: PartNames) -> Iterable[str]:
    return named.get((one.pod.uid, one.held.card), ())


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
