"""Vendors of whom a container asks a number of cards and nothing else (BR-5 to BR-7, VS-3)."""

from dataclasses import replace

from scheduler_app.core import amounts, annotations, quantity, registration_text
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import WHOLE_CARD_CORES, DeviceBackend, NodeLock
from scheduler_app.core.fit import FitRun
from scheduler_app.core.types import Allocation, Card, CardRequest, CardUsage, Container, Node


class CountedBackend(DeviceBackend):
    """Reads the number. The request's other amounts are the same for every container of the vendor."""

    asked_mem_mib = 0
    asked_percent = 100
    asked_cores = 0

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Change nothing; the vendor's own is what names the count in its limits (BR-5).

        Raises:
            AdmissionError: the reference would wrap the count around.
        """
        amounts.refuse_wrapping(container, self.names.count)
        amounts.warn_unreadable(container, self.names.count)
        return self.names.count in container.limits

    def request(self, container: Container) -> CardRequest | None:
        """Read the count exactly, limits then requests; 0 and less are kept and ask for nothing (BR-6)."""
        text = quantity.lookup(self.names.count, container.limits, container.requests)
        count = quantity.int32(text) if text is not None else None
        if count is None:
            return None
        return CardRequest(count, self.vendor_key, self.asked_mem_mib, self.asked_percent, self.asked_cores)


class SharesOnlyBackend(CountedBackend):
    """Cards on which only shares are counted, so that a card's count alone limits its use (BR-7, VS-21)."""

    node_lock = NodeLock(annotations.NODE_LOCK)
    checks_memory = False
    checks_cores = False
    checks_exclusive = False
    clamps_cores = False
    counts_memory = False
    counts_cores = False

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        """Read the JSON register text; cores become 100, so that scores have a divisor (BR-3, VS-2)."""
        cards = registration_text.from_json_annotation(node, key=self.keys.register, vendor=self.vendor_key)
        return tuple(replace(card, cores=WHOLE_CARD_CORES) for card in cards)

    def needed_mem_mib(self, run: FitRun, card: CardUsage) -> int:
        """Return 0: the percentage in the request weighs in card scores only (F-26)."""
        return 0

    def allocation(self, run: FitRun, card: CardUsage) -> Allocation:
        """Attach what the node says of the card, which node scores and groups are made from (VA-12)."""
        taken = super().allocation(run, card)
        return replace(taken, custom=card.custom)
