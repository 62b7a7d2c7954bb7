"""Cambricon MLU: cards are known from node capacity, memory counts 256 MiB a unit. Rules MLU-1 to MLU-51."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduler_app.core import amounts, plain_request, quantity, registration_text
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import (
    WHOLE_CARD_CORES,
    DeviceBackend,
    Flag,
    Keys,
    NodeLock,
    Vendor,
)
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import Card, CardId, CardRequest, Container, Containers, Node, Pod, VendorKey

ALLOCATED = "hami.io/cambricon-mlu-devices-allocated"
TO_ALLOCATE = "hami.io/cambricon-mlu-devices-to-allocate"
USE_UUID = "cambricon.com/use-gpuuuid"
NOUSE_UUID = "cambricon.com/nouse-gpuuuid"
ASSIGNED = "CAMBRICON_DSMLU_ASSIGNED"
PROFILE = "CAMBRICON_DSMLU_PROFILE"
LOCK = "cambricon.com/dsmlu.lock"
LOCK_SECONDS = 120
MIB_A_UNIT = 256
SHARES = 100


@dataclass(frozen=True, slots=True)
class Config(plain_request.NamedAmounts):
    """Section ``cambricon`` (MLU-2)."""


class MluBackend(DeviceBackend):
    """The standard fit with the namespace's quota checked for every card (MLU-39, MLU-40)."""

    vendor_key = VendorKey("MLU")
    keys = Keys(allocated=ALLOCATED, to_allocate=TO_ALLOCATE, use_uuid=USE_UUID, nouse_uuid=NOUSE_UUID)
    node_lock = NodeLock(LOCK, has_owner=False, timeout_seconds=LOCK_SECONDS)
    checks_quota = True

    def __init__(self, config: Config) -> None:
        self.names = config.names(mem_factor=MIB_A_UNIT)

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Change nothing; refuse what the reference would wrap (MLU-20 to MLU-23)."""
        if not super().mutate(container, pod):
            return False
        amounts.refuse_wrapping(container, self.names.count, self.names.cores)
        plain_request.warn(container, self.names)
        return True

    def request(self, container: Container) -> CardRequest | None:
        return plain_request.read(container, self.names, type=self.vendor_key, default_cores=WHOLE_CARD_CORES)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        """Return one card for every begun 100 cores of capacity, memory spread by cores (MLU-10 to MLU-12).

        Parity: the last card is a whole one even where the cores are not a multiple of 100 (MLU-E12).
        """
        cores = registration_text.required_capacity(node, self.names.cores)
        positions = registration_text.card_positions(-(-cores // 100), resource=self.names.cores)
        if not positions:
            return ()
        mem_mib = registration_text.capacity(node, self.names.mem) * MIB_A_UNIT * 100 // cores
        if not 0 <= mem_mib <= quantity.INT32_MAX:
            raise CodecError(f"capacity {self.names.mem}: {mem_mib} MiB a card, at most {quantity.INT32_MAX}")
        return tuple(self._card(node, index, mem_mib) for index in positions)

    def annotations(self, pod: Pod, containers: Containers, *, now_ns: int) -> Mapping[str, str]:
        """Add ``"<index>_<cores>_<memory units>"`` of the first card, however many there are (MLU-51)."""
        written = {ASSIGNED: "false", **super().annotations(pod, containers, now_ns=now_ns)}
        first = next((allocation for container in containers for allocation in container), None)
        if first is not None:
            written[PROFILE] = f"{first.index}_{first.cores}_{first.mem_mib // MIB_A_UNIT}"
        return written

    @property
    def written_keys(self) -> tuple[str, ...]:
        return (*super().written_keys, ASSIGNED, PROFILE)

    def _card(self, node: Node, index: int, mem_mib: int) -> Card:
        key = self.vendor_key
        name = CardId(f"{node.name}-cambricon-mlu-{index}")
        return Card(name, key, key, index, shares=SHARES, mem_mib=mem_mib, cores=WHOLE_CARD_CORES)


def build(config: Config) -> Sequence[DeviceBackend]:
    return [MluBackend(config)]


VENDOR = Vendor(
    name="cambricon",
    title="Cambricon MLU",
    config_key="cambricon",
    config=Config,
    build=build,
    rank=2,
    flags=(
        Flag("cambricon-mlu-name", "cambricon.com/mlu"),
        Flag("cambricon-mlu-memory", "cambricon.com/mlu.smlu.vmemory"),
        Flag("cambricon-mlu-cores", "cambricon.com/mlu.smlu.vcore"),
    ),
)
