"""Slices of Kunlun cards: quarters, halves or all of one, equal ones on a card. Rules KLV-1 to KLV-10."""

from collections.abc import Mapping
from dataclasses import replace

from scheduler_app.core import amounts, annotations, quantity, reasons, registration_text
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import Keys, NodeLock, ResourceNames
from scheduler_app.core.counted import CountedBackend
from scheduler_app.core.fit import FitRun
from scheduler_app.core.types import (
    Allocation,
    Card,
    CardRequest,
    CardUsage,
    Container,
    Node,
    Pod,
    VendorKey,
)
from scheduler_app.devices.kunlun.config import Config
from scheduler_app.devices.kunlun.selecting import SelectingBackend

CARD_MIB = 98304
QUARTER_MIB = 24576
HALF_MIB = 49152


class VxpuBackend(SelectingBackend, CountedBackend):
    """Memory alone limits how many slices a card has; its count is not looked at (KLV-7)."""

    vendor_key = VendorKey("XPU")
    keys = Keys(
        allocated="hami.io/xpu-devices-allocated",
        to_allocate="hami.io/xpu-devices-to-allocate",
        register="hami.io/node-register-xpu",
        handshake="hami.io/node-handshake-xpu",
    )
    node_lock = NodeLock(annotations.NODE_LOCK)
    asked_mem_mib = CARD_MIB
    asked_cores = 100

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(count=config.resource_v_count_name, mem=config.resource_v_memory_name)

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Round memory in the limits up to a size there is, in limits and requests (KLV-5).

        Raises:
            AdmissionError: the reference would wrap the count around.
        """
        if not super().mutate(container, pod):
            return False
        text = container.limits.get(self.names.mem) if self.names.mem else None
        if text is not None:
            amounts.warn_unreadable(container, self.names.mem)
            size = slice_mib(quantity.rounded(text))
            container.set_limit(self.names.mem, size)
            container.set_request(self.names.mem, size)
        return True

    def request(self, container: Container) -> CardRequest | None:
        """Ask for a slice where memory is named, for whole cards where it is not (KLV-6)."""
        asked = super().request(container)
        text = quantity.lookup(self.names.mem, container.limits, container.requests)
        mem_mib = None if text is None else quantity.exact(text)
        if asked is None or mem_mib is None:
            return asked
        size = slice_mib(mem_mib)
        return replace(asked, mem_mib=size, mem_percent=0, cores=size * 100 // CARD_MIB)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        return registration_text.from_json_annotation(
            node, key=self.keys.register, vendor=self.vendor_key, empty="no device found on node"
        )

    def is_free(self, run: FitRun, card: CardUsage) -> bool:
        return not (run.is_mutex and card.shares_used > 0) and self._has_room(run, card)

    def why_not(self, run: FitRun) -> Mapping[str, int]:
        """Blame the policy first: cards that would do, if they were not in use (KLV-8)."""
        kept = [card for card in run.cards if card.shares_used > 0 and self._has_room(run, card)]
        if run.is_mutex and kept:
            return {reasons.EXCLUSIVE_CONFLICT: len(kept)}
        return super().why_not(run)

    def part(self, pod: Pod, position: int, held: Allocation) -> str:
        """Return the slice as a fraction of a card (KLV-4)."""
        return {QUARTER_MIB: "1/4", HALF_MIB: "1/2"}.get(held.mem_mib, "")

    def _has_room(self, run: FitRun, card: CardUsage) -> bool:
        """Say whether a slice fits beside equal ones; the size of those is an average (KLV-7)."""
        size = run.request.mem_mib
        if not card.healthy or card.mem_free_mib < size:
            return False
        return card.shares_used == 0 or quantity.divided(card.mem_used_mib, card.shares_used) == size


def slice_mib(mem_mib: int) -> int:
    """Return the smallest slice that holds so much, or the whole card (KLV-4)."""
    if mem_mib <= QUARTER_MIB:
        return QUARTER_MIB
    return HALF_MIB if mem_mib <= HALF_MIB else CARD_MIB
