"""Hygon DCU: cards shared by memory and cores. Rules DCU-1 to DCU-43."""

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_app.core import annotations, plain_request, quantity, registration_text
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import (
    WHOLE_CARD_CORES,
    DeviceBackend,
    Flag,
    Keys,
    NodeLock,
    Vendor,
)
from scheduler_app.core.types import Card, CardRequest, Container, Node, VendorKey

REGISTER = "hami.io/node-dcu-register"
HANDSHAKE = "hami.io/node-handshake-dcu"
ALLOCATED = "hami.io/dcu-devices-allocated"
TO_ALLOCATE = "hami.io/dcu-devices-to-allocate"
USE_UUID = "hygon.com/use-gpuuuid"
NOUSE_UUID = "hygon.com/nouse-gpuuuid"
USE_TYPE = "hygon.com/use-dcutype"
NOUSE_TYPE = "hygon.com/nouse-dcutype"


@dataclass(frozen=True, slots=True)
class Config(plain_request.NamedAmounts):
    """Section ``hygon`` (DCU-2). ``memory_factor`` is MiB a unit of memory; below 2 a unit is 1 MiB."""

    memory_factor: int = 0


class DcuBackend(DeviceBackend):
    """The standard fit with type lists (DCU-40)."""

    vendor_key = VendorKey("DCU")
    keys = Keys(
        allocated=ALLOCATED,
        to_allocate=TO_ALLOCATE,
        register=REGISTER,
        handshake=HANDSHAKE,
        use_uuid=USE_UUID,
        nouse_uuid=NOUSE_UUID,
        use_type=USE_TYPE,
        nouse_type=NOUSE_TYPE,
    )
    node_lock = NodeLock(annotations.NODE_LOCK)

    def __init__(self, config: Config) -> None:
        self.names = config.names(mem_factor=config.memory_factor)

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Change nothing; warn of what will count as no request or as a whole card (DCU-20 to DCU-23)."""
        if not super().mutate(container, pod):
            return False
        plain_request.warn(container, self.names)
        return True

    def request(self, container: Container) -> CardRequest | None:
        cards = self._read(container, self.names.count, default=0, factor=1)
        mem_mib = self._read(container, self.names.mem, default=0, factor=self.names.mem_factor)
        cores = self._read(container, self.names.cores, default=WHOLE_CARD_CORES, factor=1)
        if not cards or mem_mib is None or cores is None:
            return None
        return CardRequest(cards, self.vendor_key, mem_mib, 0 if mem_mib else 100, cores)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        return registration_text.from_csv_annotation(node, key=REGISTER, vendor=self.vendor_key)

    def _read(self, container: Container, resource: str, *, default: int, factor: int) -> int | None:
        """Return an amount, ``default`` where there is none to read exactly, None when it is out of range.

        Parity: a fraction counts as not written, also a negative one (DCU-E08: ``-1m`` is a whole card).
        """
        text = quantity.lookup(resource, container.limits, container.requests)
        if text is None or quantity.exact(text) is None:
            return default
        return quantity.scaled(text, factor)


def build(config: Config) -> Sequence[DeviceBackend]:
    return [DcuBackend(config)]


VENDOR = Vendor(
    name="hygon",
    title="Hygon DCU",
    config_key="hygon",
    config=Config,
    build=build,
    rank=3,
    flags=(
        Flag("dcu-name", "hygon.com/dcunum"),
        Flag("dcu-memory", "hygon.com/dcumem"),
        Flag("dcu-cores", "hygon.com/dcucores"),
    ),
)
