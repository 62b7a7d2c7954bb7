"""Kunlun cards that are given whole. Rules KL-1 to KL-12."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from scheduler_app.core.backend import Health, Keys, ResourceNames
from scheduler_app.core.fit import FitRun
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, Card, CardUsage, Containers, Node, Pod, VendorKey
from scheduler_app.core.wholecards import WholeCardBackend
from scheduler_app.devices.kunlun import topology
from scheduler_app.devices.kunlun.config import Config
from scheduler_app.devices.kunlun.selecting import SelectingBackend

DEVICE_INDEX = "BAIDU_COM_DEVICE_IDX"
_SCORES = {-1: 3000.0, 0: 2000.0, 1: 1000.0, 2: 0.0}
_SCORE_BEYOND = 1000.0


class XpuBackend(SelectingBackend, WholeCardBackend):
    """An idle card is a free one: memory, cores, count and policy play no part (KL-4)."""

    vendor_key = VendorKey("kunlun")
    keys = Keys(allocated="hami.io/kunlun-allocated")
    card_word = "kunlun"
    card_mem_mib = 98304
    card_shares = 100

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(count=config.resource_count_name)

    def card(self, node: Node, index: int, *, count: int) -> Card:
        """The second half of a node's cards belongs to NUMA node 1 (KL-2)."""
        return replace(super().card(node, index, count=count), numa=0 if index < count // 2 else 1)

    def health(self, node: Node, *, now: datetime, memory: Any = None) -> Health:
        """Parity: cards stay when the capacity is gone (VC-9)."""
        return Health(healthy=True, needs_update=True)

    def is_free(self, run: FitRun, card: CardUsage) -> bool:
        return card.healthy and card.shares_used == 0

    def allocation(self, run: FitRun, card: CardUsage) -> Allocation:
        return replace(super().allocation(run, card), mem_mib=card.card.mem_mib, cores=card.card.cores)

    def add_usage(self, card: CardUsage, allocation: Allocation, pod: Pod) -> tuple[CardUsage, Allocation]:
        """Parity: memory and cores count only once the pod is recorded (KL-10)."""
        return card.plus(shares=1, mem_mib=0, cores=0), allocation

    def score_node(self, given: ScoreInput) -> float:
        """Compare how torn the wings are before with the pod's own cards (KL-11).

        Parity: the pod's cards are not joined with those in use, the greatest gain scores like a loss, and
        another vendor's card on the node makes it 0.
        """
        if any(self.vendor_key not in card.card.type for card in given.cards):
            return 0.0
        before = {card.card.index for card in given.cards if card.shares_used > 0}
        taken = {allocation.index for container in given.containers for allocation in container}
        change = topology.bubble(taken) - topology.bubble(before)
        return _SCORES.get(change, _SCORE_BEYOND)

    def annotations(self, pod: Pod, containers: Containers, *, now_ns: int) -> Mapping[str, str]:
        """Add the card numbers; of several containers the last one's are written (KL-12)."""
        written = dict(super().annotations(pod, containers, now_ns=now_ns))
        for container in containers:
            if container:
                written[DEVICE_INDEX] = ",".join(str(allocation.index) for allocation in container)
        return written

    @property
    def written_keys(self) -> tuple[str, ...]:
        return (*super().written_keys, DEVICE_INDEX)
