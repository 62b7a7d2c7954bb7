"""How a vendor's amounts read to people: what of a card is counted, in which unit, what its parts are called.

The scheduler decides with the registered amounts alone; none of this weighs in a decision. The defaults are a
card whose memory is counted in MiB and whose cores are percent.
"""

from dataclasses import dataclass

from scheduler_app.core.types import Allocation, CardRequest, CardUsage, Node, Pod

PERCENT = "%"
CORES = "cores"
"""Cores that are counted one by one; any other unit is an abbreviation, written as it stands."""
UNREAL_MIB = 1
"""Memory up to this is a placeholder: the vendor registers no real amount."""
ALL_PERCENT = 100

Pair = tuple[int, int]
"""Used and total."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a container asks of each card, 0 where it asks nothing; ``cores`` in ``asked_cores_unit``."""

    mem_mib: int = 0
    mem_percent: int = 0
    cores: int = 0
    slices: int = 0


class Displayed:
    """The part of a backend that people look at. Units stand for themselves in every language."""

    counts_memory = True
    counts_cores = True
    cores_unit = PERCENT  # of a card's cores, and of what a pod holds of them
    asked_cores_unit = PERCENT  # of the amount that a container writes
    quota_cores_unit = ""  # of what a quota's usage sums up; empty: the card's unit
    asked_mem_unit = ""  # of the amount that a container writes; empty: that of ``names``

    def shown_memory(self, card: CardUsage) -> Pair | None:
        """Return MiB, or None where nobody counts this card's memory."""
        if not self.counts_memory or card.card.mem_mib <= UNREAL_MIB:
            return None
        return card.mem_used_mib, card.card.mem_mib

    def shown_cores(self, card: CardUsage, node: Node) -> Pair | None:
        """Return cores in ``cores_unit``, or None where nobody counts this card's cores."""
        total = self.held_cores(card.card.cores)
        if not self.counts_cores or total <= 0:
            return None
        return self.held_cores(card.cores_used), total

    def held_cores(self, cores: int) -> int:
        """Return the registered or written amount in ``cores_unit``."""
        return cores

    def shown_shares(self, card: CardUsage) -> Pair:
        """Return how many may hold a part of the card at the same time, and how many do."""
        return card.shares_used, card.card.shares

    def shown_mode(self, card: CardUsage) -> str:
        """Return how the card is shared, in the vendor's own word; empty where it has one way only."""
        return card.card.mode

    def part(self, pod: Pod, position: int, held: Allocation) -> str:
        """Return the vendor's name for what a container holds of a card; empty: it has none.

        ``position`` counts init containers first; of ``held``, ``custom`` is empty after a restart.
        """
        return ""

    def asked(self, request: CardRequest) -> Asked:
        percent = request.mem_percent if 0 < request.mem_percent <= ALL_PERCENT else 0
        return Asked(
            mem_mib=request.mem_mib if self.counts_memory else 0,
            mem_percent=percent if self.counts_memory and not request.mem_mib else 0,
            cores=request.cores if self.counts_cores else 0,
        )
