"""AMD. Rules AMD-1 to AMD-43.

A card's cores are its compute units (``304``), not percent. A container asks percent, which fit turns into
units, so that a card's use, its annotation and its quota are in units. The type in the pod's annotation is
the card's model: ``"GPU-0,AMD_Instinct_MI300X,500,152:;"`` (AMD-34). Only limits are read.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scheduler_app.core import amounts, annotations, quantity, reasons, registration_text
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import DeviceBackend, Health, Keys, NodeLock, Vendor
from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.fit import FitRun
from scheduler_app.core.plain_request import NamedAmounts
from scheduler_app.core.types import Allocation, Card, CardRequest, CardUsage, Container, Node, VendorKey

KEY = VendorKey("AMD")
KEYS = Keys(
    allocated="hami.io/amd-devices-allocated",
    to_allocate="hami.io/amd-devices-to-allocate",
    register="hami.io/node-amd-register",
    use_uuid="amd.com/use-gpu-uuid",
    nouse_uuid="amd.com/nouse-gpu-uuid",
    use_type="amd.com/use-gputype",
    nouse_type="amd.com/nouse-gputype",
)
WHOLE_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Config(NamedAmounts):
    """The section ``amd`` of the device configuration (DCF-5)."""


class AmdBackend(DeviceBackend):
    """Memory in MiB, cores in compute units; nobody gets a card to himself (AMD-33)."""

    vendor_key = KEY
    keys = KEYS
    node_lock = NodeLock(annotations.NODE_LOCK)
    clamps_cores = False
    checks_exclusive = False
    cores_unit = "CU"

    def __init__(self, config: Config) -> None:
        self.names = config.names()

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Change nothing; memory or cores in the limits are enough to be AMD's (AMD-10 to AMD-12).

        Raises:
            AdmissionError: cores beside a count are no percentage.
        """
        names, limits = self.names, container.limits
        has_count = names.count in limits
        if has_count and names.cores in limits and _percent(limits[names.cores]) is None:
            raise AdmissionError(f"{names.cores} must be an integer percentage between 1 and {WHOLE_PERCENT}")
        is_found = any(name and name in limits for name in (names.count, names.mem, names.cores))
        if is_found:
            self._warn(container, has_count=has_count)
        return is_found

    def _warn(self, container: ContainerDraft, *, has_count: bool) -> None:
        """Tell what extraction will read as "no cards at all" (AMD-12, AMD-20, AMD-21)."""
        if not has_count:
            container.pod.warn(f"container {container.name}: no cards without {self.names.count} in limits")
            return
        amounts.warn_unreadable(container, self.names.count, low=1)
        amounts.warn_unreadable(container, self.names.mem)

    def request(self, container: Container) -> CardRequest | None:
        """Read limits exactly; one amount that cannot be read and nothing is asked (AMD-20 to AMD-23)."""
        limits, names = container.limits, self.names
        count = quantity.int32(limits.get(names.count, "0"))
        mem_mib = quantity.scaled(limits.get(names.mem, "0"))
        percent = _percent(limits.get(names.cores, str(WHOLE_PERCENT)))
        if count is None or count < 1 or mem_mib is None or percent is None:
            return None
        return CardRequest(count, KEY, mem_mib, cores=percent)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        return registration_text.from_json_annotation(node, key=self.keys.register, vendor=KEY)

    def health(self, node: Node, *, now: datetime, memory: Any = None) -> Health:
        """Look at capacity, as there is no handshake; cards that are there are read at each pass (AMD-4)."""
        if not self.names.count:
            return Health(healthy=True, needs_update=True)
        has_cards = registration_text.capacity(node, self.names.count) != 0
        return Health(healthy=has_cards, needs_update=has_cards)

    @property
    def cleanup_keys(self) -> tuple[str, ...]:
        """The registration itself: a plugin that does not register again stays gone (AMD-5)."""
        return (self.keys.register,)

    def capacity_refusal(self, run: FitRun, card: CardUsage) -> str | None:
        """S12 and S13, cores counted in the card's own units (AMD-32)."""
        if card.mem_free_mib < self.needed_mem_mib(run, card):
            return reasons.CARD_INSUFFICIENT_MEMORY
        if run.request.cores > 0 and card.card.cores <= 0:
            return reasons.CARD_INSUFFICIENT_CORE
        if card.cores_free < self._units(run, card):
            return reasons.CARD_INSUFFICIENT_CORE
        return None

    def needed_mem_mib(self, run: FitRun, card: CardUsage) -> int:
        """Return the memory asked for, else all the card has (AMD-31)."""
        asked = run.request.mem_mib
        return asked if asked > 0 else max(card.card.mem_mib, asked)

    def _units(self, run: FitRun, card: CardUsage) -> int:
        """Return the percentage asked for as compute units, one at least (AMD-32)."""
        total, percent = card.card.cores, run.request.cores
        if percent > 0:
            return min(max(total * percent // 100, 1), total)
        takes_whole_memory = 0 < card.card.mem_mib <= self.needed_mem_mib(run, card)
        return total if takes_whole_memory else 0

    def allocation(self, run: FitRun, card: CardUsage) -> Allocation:
        mem_mib, units = self.needed_mem_mib(run, card), self._units(run, card)
        return Allocation(card.id, card.card.type, mem_mib, units, index=card.card.index)

    def shows_percent(self, card: Card) -> bool:
        """Cores are compute units of the model; metrics show percent (AMD-43, X-4)."""
        return card.type.upper().startswith("AMD")


def _percent(text: str) -> int | None:
    value = quantity.exact(text)
    return value if value is not None and 1 <= value <= WHOLE_PERCENT else None


def build(config: Config) -> list[DeviceBackend]:
    return [AmdBackend(config)]


VENDOR = Vendor(name="amd", title="AMD", config_key="amd", config=Config, build=build, rank=12)
