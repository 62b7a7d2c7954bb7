"""What a container asks of NVIDIA (NV-30 to NV-35).

Parity ends where the reference wraps around: amounts beyond 32 bits ask nothing here.
"""

from scheduler_app.core import quantity
from scheduler_app.core.amounts import INT32_MIN
from scheduler_app.core.backend import NO_PERCENTAGE
from scheduler_app.core.types import CardRequest, Container, VendorKey
from scheduler_app.devices.nvidia.config import NvidiaConfig


def read(config: NvidiaConfig, container: Container, vendor: VendorKey) -> CardRequest | None:
    """Return the request, or None: no count, or an amount of memory that cannot be."""
    cards = _exact(container, config.resource_count_name)
    cores = _exact(container, config.resource_core_name)
    mem_mib = _memory(config, container)
    if cores is None:
        cores = config.default_cores
    if cards is None or mem_mib is None or cards > quantity.INT32_MAX:
        return None
    if not INT32_MIN <= cores <= quantity.INT32_MAX:
        return None
    percent = _percent(config, container)
    if percent == NO_PERCENTAGE and mem_mib == 0:
        mem_mib = config.default_memory
        percent = NO_PERCENTAGE if mem_mib else 100
    return CardRequest(cards, vendor, mem_mib, percent, cores)


def _exact(container: Container, resource: str) -> int | None:
    text = quantity.lookup(resource, container.limits, container.requests)
    return None if text is None else quantity.exact(text)


def _memory(config: NvidiaConfig, container: Container) -> int | None:
    """Return MiB a card, 0 when none is named, None for what is no amount of memory (NV-31)."""
    text = quantity.lookup(config.resource_memory_name, container.limits, container.requests)
    if text is None:
        return 0
    amount, factor = quantity.exact(text), max(config.memory_factor, 1)
    if amount is None or not 0 <= amount <= quantity.INT32_MAX // factor:
        return None
    return amount * factor


def _percent(config: NvidiaConfig, container: Container) -> int:
    """Return 1 to 100, or 101 for none given (NV-32)."""
    percent = _exact(container, config.resource_memory_percentage_name)
    return NO_PERCENTAGE if percent is None or percent <= 0 else min(percent, 100)
