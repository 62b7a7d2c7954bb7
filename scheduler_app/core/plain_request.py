"""The request of vendors that let a container write a count, memory in the vendor's unit, and cores.

``NamedAmounts`` is how a section names them, ``warn`` is for admission, ``read`` for scheduling; vendors that
round, default or bound otherwise read on their own.
"""

from dataclasses import dataclass

from scheduler_app.core import amounts, quantity
from scheduler_app.core.admission import ContainerDraft
from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.types import CardRequest, Container, VendorKey


@dataclass(frozen=True, slots=True)
class NamedAmounts:
    """The part that many sections of the device configuration share: count, memory and cores (DCF-5)."""

    resource_count_name: str = ""
    resource_memory_name: str = ""
    resource_core_name: str = ""

    def names(self, *, mem_factor: int = 0) -> ResourceNames:
        return ResourceNames(
            self.resource_count_name, self.resource_memory_name, self.resource_core_name, mem_factor
        )


def warn(container: ContainerDraft, names: ResourceNames) -> None:
    """Warn of amounts under the three names that ``read`` drops or takes for something else."""
    amounts.warn_unreadable(container, names.count, low=1)
    amounts.warn_unreadable(container, names.mem, high=quantity.INT32_MAX // max(names.mem_factor, 1))
    amounts.warn_unreadable(container, names.cores)


def read(
    container: Container, names: ResourceNames, *, type: VendorKey, default_cores: int
) -> CardRequest | None:
    """Return the request, None without an exact count (MLU-21 to MLU-24, ILU-21 to ILU-24).

    Memory 0 or absent is a whole card's; memory that is fractional, negative or too large is no request at
    all. Fractional cores count as not written. A count below 1 is returned as it is: nobody keeps it (VB-1).
    """
    count, mem, cores = (
        quantity.lookup(name, container.limits, container.requests)
        for name in (names.count, names.mem, names.cores)
    )
    cards = None if count is None else quantity.int32(count)
    mem_mib = 0 if mem is None else quantity.scaled(mem, names.mem_factor)
    percent = default_cores if cores is None or quantity.exact(cores) is None else quantity.int32(cores)
    if cards is None or mem_mib is None or percent is None:
        return None
    return CardRequest(cards, type, mem_mib, 0 if mem_mib else 100, percent)
