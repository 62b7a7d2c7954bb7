"""Enflame cards that are given whole. Rules GCU-1 to GCU-5."""

from scheduler_app.core import reasons
from scheduler_app.core.backend import Keys, ResourceNames
from scheduler_app.core.fit import FitRun
from scheduler_app.core.types import CardUsage, VendorKey
from scheduler_app.core.wholecards import WholeCardBackend
from scheduler_app.devices.enflame.config import Config


class GcuBackend(WholeCardBackend):
    """A card goes to whoever asks first; neither policy nor uuid lists matter (GCU-1)."""

    vendor_key = VendorKey("GCU")
    keys = Keys(
        allocated="hami.io/enflame-gcu-devices-allocated",
        to_allocate="hami.io/enflame-gcu-devices-to-allocate",
    )
    asked_mem_mib = 100
    asked_cores = 100
    card_word = "GCU"
    card_mem_mib = 100
    clamps_cores = False
    counts_memory = False  # 100 is no amount: all of a card

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(count=config.resource_name_gcu)

    def sharing_refusal(self, run: FitRun, card: CardUsage) -> str | None:
        """Refuse a card in use; its count is not looked at (GCU-4)."""
        return reasons.EXCLUSIVE_CONFLICT if card.shares_used > 0 else None

    def capacity_refusal(self, run: FitRun, card: CardUsage) -> str | None:
        return None
