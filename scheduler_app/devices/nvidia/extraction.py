"""What a container asks of NVIDIA (NV-30 to NV-35).

Parity ends where the reference wraps around: amounts beyond 32 bits ask nothing here.
"""

from scheduler_app.core import quantity
from scheduler_app.core.backend import NO_PERCENTAGE
from scheduler_app.core.types import CardRequest, Container, VendorKey
from scheduler_app.devices.nvidia.config import NvidiaConfig


def read(config: NvidiaConfig, container: Container, vendor: VendorKey) -> CardRequest | None:
    """Return the request, or None: no count, or an amount that cannot be."""
    count = _text(container, config.resource_count_name)
    cards = None if count is None else quantity.int32(count)
    cores, mem_mib = _cores(config, container), _memory(config, container)
    if cards is None or cores is None or mem_mib is None:
        return None
    percent = _percent(config, container)
    if percent == NO_PERCENTAGE and mem_mib == 0:
        mem_mib = config.default_memory
        percent = NO_PERCENTAGE if mem_mib else 100
    return CardRequest(cards, vendor, mem_mib, percent, cores)


def _text(container: Container, resource: str) -> str | None:
    return quantity.lookup(resource, container.limits, container.requests)


def _cores(config: NvidiaConfig, container: Container) -> int | None:
    """Return percent of a card; what has no exact reading is as good as absent (NV-34)."""
    text = _text(container, config.resource_core_name)
    if text is None or quantity.exact(text) is None:
        return config.default_cores
    return quantity.int32(text)


def _memory(config: NvidiaConfig, container: Container) -> int | None:
    """Return MiB a card, 0 when none is named, None for what is no amount of memory (NV-31)."""
    text = _text(container, config.resource_memory_name)
    return 0 if text is None else quantity.scaled(text, config.memory_factor)


def _percent(config: NvidiaConfig, container: Container) -> int:
    """Return 1 to 100, or 101 for none given (NV-32)."""
    text = _text(container, config.resource_memory_percentage_name)
    percent = None if text is None else quantity.exact(text)
    return NO_PERCENTAGE if percent is None or percent <= 0 else min(percent, 100)
