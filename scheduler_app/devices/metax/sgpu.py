"""Metax GPUs shared by memory, cores, application class and quality of service. Rules MXS-1 to MXS-19."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from scheduler_app.core import annotations, codec, reasons
from scheduler_app.core import text as texts
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import (
    MIB_A_GIB,
    WHOLE_CARD_CORES,
    DeviceBackend,
    Health,
    Keys,
    NodeLock,
    ResourceNames,
)
from scheduler_app.core.errors import CodecError
from scheduler_app.core.fit import FitRun
from scheduler_app.core.float32 import f32
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import (
    Allocation,
    Card,
    CardRequest,
    CardUsage,
    Container,
    Containers,
    Node,
    Pod,
    VendorKey,
)
from scheduler_app.devices.metax import asking, inventory, links, sharing
from scheduler_app.devices.metax.config import Config

TOPOLOGY_AWARE = "metax-tech.com/sgpu-topology-aware"
DEVICES = "metax-tech.com/gpu-devices-allocated"
PREDICATE_TIME = "metax-tech.com/predicate-time"
CARD_UNHEALTHY = "CardUnhealthy"
CARD_APP_CLASS_MISMATCH = "CardAppClassMismatch"
CARD_QOS_POLICY_MISMATCH = "CardQosPolicyMismatch"


class SgpuBackend(DeviceBackend):
    """The common steps in an order of their own, and at the end a choice by links or classes."""

    vendor_key = VendorKey("Metax-SGPU")
    keys = Keys(
        allocated="hami.io/metax-sgpu-devices-allocated",
        to_allocate="hami.io/metax-sgpu-devices-to-allocate",
        register=inventory.REGISTER,
        use_uuid="metax-tech.com/use-gpuuuid",
        nouse_uuid="metax-tech.com/nouse-gpuuuid",
    )
    node_lock = NodeLock(annotations.NODE_LOCK)
    is_policy_neutral = True
    clamps_cores = False

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(
            count=config.resource_v_count_name,
            mem=config.resource_v_memory_name,
            cores=config.resource_v_core_name,
            mem_factor=MIB_A_GIB,
        )
        self._is_topology_aware = config.sgpu_topology_aware

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Check class and policy (MXS-5).

        Raises:
            AdmissionError: a class or policy that does not exist, or a class for several cards.
        """
        if not super().mutate(container, pod):
            return False
        asking.check(container, pod, self.names)
        asking.warn(container, self.names)
        return True

    def request(self, container: Container) -> CardRequest | None:
        return asking.request(container, names=self.names, vendor=self.vendor_key)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        return inventory.read(node, vendor=self.vendor_key)

    def health(self, node: Node, *, now: datetime, memory: Any = None) -> Health:
        """Healthy while cards can be read, and always up to date (MXS-4)."""
        try:
            cards = self.node_cards(node)
        except CodecError:
            cards = ()
        return Health(healthy=bool(cards), needs_update=True)

    def confirms(self, card: Card, expected: str) -> bool:
        """Compare with the policy that the node reports (MXS-4)."""
        return bool(card.custom.get(inventory.QOS) == expected)

    def identity_refusal(self, run: FitRun, card: CardUsage) -> str | None:
        """Steps 1 to 5; an unhealthy card has a word of its own here (MXS-7)."""
        pod, request = run.context.pod, run.request
        if request.type != self.vendor_key:
            return reasons.CARD_TYPE_MISMATCH
        if not card.healthy:
            return CARD_UNHEALTHY
        if not sharing.class_fits(pod, card):
            return CARD_APP_CLASS_MISMATCH
        if not sharing.is_online(pod) and not sharing.qos_fits(pod, card, cores=request.cores):
            return CARD_QOS_POLICY_MISMATCH
        return None if self.accepts_uuid(run, card) else reasons.CARD_UUID_MISMATCH

    def capacity_refusal(self, run: FitRun, card: CardUsage) -> str | None:
        """Steps 8 to 11; the cores of an online pod are not counted."""
        if not sharing.is_online(run.context.pod):
            return super().capacity_refusal(run, card)
        lacks_memory = card.mem_free_mib < self.needed_mem_mib(run, card)
        return reasons.CARD_INSUFFICIENT_MEMORY if lacks_memory else None

    def needed_mem_mib(self, run: FitRun, card: CardUsage) -> int:
        """Parity: 101 is a percentage like any other (MXS-E18)."""
        request = run.request
        return request.mem_mib if request.mem_mib > 0 else card.card.mem_mib * request.mem_percent // 100

    def allocation(self, run: FitRun, card: CardUsage) -> Allocation:
        """Return the record, with the policy expected of the card where it differs (MXS-13, MXS-14)."""
        pod, taken = run.context.pod, super().allocation(run, card)
        if sharing.is_online(pod):
            return replace(taken, cores=0)
        policy = sharing.qos_after(pod, cores=taken.cores)
        return replace(taken, expects=None if card.custom.get(inventory.QOS) == policy else policy)

    def chooses_among_all(self, run: FitRun) -> bool:
        return True

    def choose(self, run: FitRun) -> Sequence[Allocation]:
        """Pick by class, by links for whole cards without class, else the first ones (MXS-10)."""
        pod, wanted = run.context.pod, run.request.cards
        cards = {card.id: card for card in run.cards}
        if sharing.is_online(pod):
            return sorted(run.taken, key=lambda taken: sharing.online_rank(cards[taken.card]))[:wanted]
        if sharing.APP_CLASS in pod.annotations or run.request.cores != WHOLE_CARD_CORES:
            return super().choose(run)
        linked = [(taken.card, links.zone(cards[taken.card].card)) for taken in run.taken]
        by_card = {taken.card: taken for taken in run.taken}
        return [by_card[card] for card in links.choose(linked, count=wanted)]

    def add_usage(self, card: CardUsage, allocation: Allocation, pod: Pod) -> tuple[CardUsage, Allocation]:
        """Let the pod's next containers see the policy that the card has now (MXS-19)."""
        used, record = super().add_usage(card, allocation, pod)
        if sharing.is_online(pod) or not isinstance(card.custom.get(inventory.QOS), str):
            return used, record
        policy = sharing.qos_after(pod, cores=allocation.cores)
        return replace(used, custom={**used.custom, inventory.QOS: policy}), record

    def score_node(self, given: ScoreInput) -> float:
        """Return the class score of an online pod, else the link score of one with whole cards (MXS-15)."""
        taken = [allocation for container in given.containers for allocation in container]
        names = {allocation.card for allocation in taken}
        if sharing.is_online(given.pod):
            return f32(float(sum(sharing.online_score(card) for card in given.cards if card.id in names)))
        whole = [allocation.card for allocation in taken if allocation.cores == WHOLE_CARD_CORES]
        if not whole or not self._weighs_links(given.pod):
            return 0.0
        own = [card for card in given.cards if card.card.vendor == self.vendor_key]
        zones = {card.id: links.zone(card.card) for card in own}
        idle = [(card.id, zones[card.id]) for card in own if card.shares_used == 0]
        return f32(float(links.score([(card, zones[card]) for card in whole], idle)))

    def annotations(self, pod: Pod, containers: Containers, *, now_ns: int) -> Mapping[str, str]:
        written = super().annotations(pod, containers, now_ns=now_ns)
        return {**written, DEVICES: _devices(containers), PREDICATE_TIME: str(now_ns)}

    @property
    def written_keys(self) -> tuple[str, ...]:
        return (*super().written_keys, DEVICES, PREDICATE_TIME)

    def pod_mark(self, pod: Pod) -> str:
        return sharing.app_class(pod)

    def shown_mode(self, card: CardUsage) -> str:
        """Return the quality of service of a card in use: what is expected, else what it reports (MXS-9)."""
        if card.shares_used == 0:
            return ""
        return str(card.card.custom.get(inventory.QOS) or "") if card.expected is None else card.expected

    def part(self, pod: Pod, position: int, held: Allocation) -> str:
        """Return the pod's class where it has one, and its policy where it shares the card (MXS-5)."""
        policy = "" if sharing.is_online(pod) else sharing.qos_after(pod, cores=held.cores)
        return " ".join(filter(None, (sharing.app_class(pod), policy)))

    def _weighs_links(self, pod: Pod) -> bool:
        asked = texts.boolean(pod.annotations.get(TOPOLOGY_AWARE, ""))
        return self._is_topology_aware if asked is None else asked


def _devices(containers: Containers) -> str:
    """Return ``[[{"uuid":"a","compute":10,"vRam":1024}],[]]``: no zeros, HTML escaped (MXS-14)."""
    return codec.compact_json([[_device(allocation) for allocation in container] for container in containers])


def _device(allocation: Allocation) -> dict[str, str | int]:
    members: dict[str, str | int] = {"uuid": allocation.card}
    if allocation.cores:
        members["compute"] = allocation.cores
    if allocation.mem_mib:
        members["vRam"] = allocation.mem_mib
    return members
