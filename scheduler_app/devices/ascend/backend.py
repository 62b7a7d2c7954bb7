"""The standard fit with a mode gate, a core ceiling and topology. Rules ASC-1, ASC-20, ASC-30 to ASC-62."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from scheduler_app.core import annotations, quantity, reasons, registration_text
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import (
    WHOLE_CARD_CORES,
    DeviceBackend,
    Flag,
    Keys,
    NodeLock,
    ResourceNames,
    Vendor,
)
from scheduler_app.core.display import Pair
from scheduler_app.core.fit import FitContext, FitResult, FitRun
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import (
    Allocation,
    Card,
    CardRequest,
    CardUsage,
    Container,
    Containers,
    Node,
    Pod,
    VendorKey,
)
from scheduler_app.devices.ascend import admission, handover, split, topology
from scheduler_app.devices.ascend.config import PAIRED, Chip, Config

VISIBLE_DEVICES = "ASCEND_VISIBLE_DEVICES"
PREDICATE_TIME = "predicate-time"
NO_DEVICE = "no device found on node"
NETWORKED = "Ascend910"  # chips whose words begin so have a topology
NANOSECONDS = 1_000_000_000


class AscendBackend(DeviceBackend):
    """One chip of the configuration; its ``commonWord`` is key, request type and part of every annotation."""

    node_lock = NodeLock(annotations.NODE_LOCK)

    def __init__(self, chip: Chip, *, is_soft_by_default: bool) -> None:
        word = chip.common_word
        self._chip = chip
        self._is_soft_by_default = is_soft_by_default
        self._is_networked = word.startswith(NETWORKED)
        self._handover = f"huawei.com/{word}"
        self.vendor_key = VendorKey(word)
        self.names = ResourceNames(
            count=chip.resource_name,
            mem=chip.resource_memory_name,
            cores=chip.resource_core_name,
            mem_factor=chip.memory_factor,
        )
        self.keys = Keys(
            allocated=f"hami.io/{word}-devices-allocated",
            to_allocate=f"hami.io/{word}-devices-to-allocate",
            register=f"hami.io/node-register-{word}",
            handshake=f"hami.io/node-handshake-{word}",
            use_uuid=f"hami.io/use-{word}-uuid",
            nouse_uuid=f"hami.io/no-use-{word}-uuid",
        )

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Complete a container that asks for this chip; blind any other one if the chip is set to (ASC-20).

        Parity: every configured chip blinds on its own, so there may be several blank entries (ASC-E22).
        """
        if super().mutate(container, pod):
            admission.complete(container, pod, chip=self._chip, names=self.names)
            return True
        if self._chip.overwrite_env:
            container.add_env(VISIBLE_DEVICES, "")
        return False

    def request(self, container: Container) -> CardRequest | None:
        """Return the request (ASC-30 to ASC-33)."""
        count = quantity.lookup(self.names.count, container.limits, container.requests)
        cards = None if count is None else quantity.scaled(count)
        mem_mib, cores = self._mem_mib(container), self._cores(container)
        if not cards or mem_mib is None or cores is None:
            return None
        return CardRequest(cards, self.vendor_key, mem_mib, 0 if mem_mib else 100, cores)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        return registration_text.from_json_annotation(
            node, key=self.keys.register, vendor=self.vendor_key, empty=NO_DEVICE
        )

    def node_traits(self, node: Node, cards: Sequence[Card]) -> Hashable:
        return node.annotations.get(split.NODE_SUPPORT)

    def fit(self, context: FitContext, cards: Sequence[CardUsage], request: CardRequest) -> FitResult:
        """Turn soft split away from a node without support for it, before any card is looked at (ASC-41)."""
        is_soft = split.is_soft(context.pod.annotations)
        if is_soft and not split.is_supported(context.node.annotations, default=self._is_soft_by_default):
            return FitResult.refused({reasons.MODE_NOT_FIT: 1}, cards=len(cards))
        return super().fit(context, cards, request)

    def capacity_refusal(self, run: FitRun, card: CardUsage) -> str | None:
        """Soft split counts percent of the chip where the card registered its AI cores (ASC-44)."""
        if split.is_soft(run.context.pod.annotations):
            card = replace(card, card=replace(card.card, cores=WHOLE_CARD_CORES))
        return super().capacity_refusal(run, card)

    def allocation(self, run: FitRun, card: CardUsage) -> Allocation:
        return replace(super().allocation(run, card), custom=card.card.custom)

    def chooses_among_all(self, run: FitRun) -> bool:
        return _is_paired(run.request) or (self._is_networked and topology.is_known(run.cards))

    def choose(self, run: FitRun) -> Sequence[Allocation]:
        if run.request.cards == 1:
            return run.taken[:1]
        return topology.closest(run, vendor=self.vendor_key)

    def finish(self, run: FitRun) -> FitResult:
        return topology.pair_up(run) if _is_paired(run.request) else super().finish(run)

    def score_node(self, given: ScoreInput) -> float:
        """Return the topology's part; it is added under ``spread`` as well (ASC-52)."""
        return topology.score(given.containers) if self._is_networked else 0.0

    def annotations(self, pod: Pod, containers: Containers, *, now_ns: int) -> Mapping[str, str]:
        return {
            **super().annotations(pod, containers, now_ns=now_ns),
            PREDICATE_TIME: str(now_ns // NANOSECONDS),
            self._handover: handover.encode(
                containers, chip=self._chip, is_soft=split.is_soft(pod.annotations)
            ),
        }

    @property
    def written_keys(self) -> tuple[str, ...]:
        return (*super().written_keys, PREDICATE_TIME, self._handover)

    def shown_cores(self, card: CardUsage, node: Node) -> Pair | None:
        """Percent where soft split can be had; nobody counts the AI cores of templates (ASC-23, ASC-44)."""
        if not split.is_supported(node.annotations, default=self._is_soft_by_default):
            return None
        return card.cores_used, WHOLE_CARD_CORES

    def part(self, pod: Pod, position: int, held: Allocation) -> str:
        """Return the template that the card is split by, or the name of soft split (ASC-7, ASC-14)."""
        if split.is_soft(pod.annotations):
            return split.SOFT
        return self._chip.template_for(held.mem_mib).name

    def _mem_mib(self, container: Container) -> int | None:
        """Return memory a card, 0 for a whole one, None where the container is not served (ASC-31).

        Parity: without an exact reading it is a whole card, unless negative (ASC-E23, ASC-E24).
        """
        text = quantity.lookup(self.names.mem, container.limits, container.requests)
        if text is None:
            return 0
        if quantity.exact(text) is None:
            return None if quantity.rounded(text) < 0 else 0
        return quantity.scaled(text, self.names.mem_factor)

    def _cores(self, container: Container) -> int | None:
        """Return cores rounded up, None when out of range (ASC-32)."""
        text = quantity.lookup(self.names.cores, container.limits, container.requests)
        cores = 0 if text is None else quantity.rounded(text)
        return cores if 0 <= cores <= quantity.INT32_MAX else None


def _is_paired(request: CardRequest) -> bool:
    return request.type == PAIRED and request.cards > 1


def build(config: Config) -> Sequence[DeviceBackend]:
    return [AscendBackend(chip, is_soft_by_default=config.hami_vnpu_core) for chip in config.configs]


VENDOR = Vendor(
    name="ascend",
    title="Huawei Ascend",
    config_key="vnpus",
    config=Config,
    build=build,
    rank=15,
    enabling_flag="enable-ascend",
    flags=(Flag("enable-ascend", False, help="create the Ascend backends"),),
    is_configured=lambda config: bool(config.configs),  # hamiVnpuCore alone is nothing (DCF-12)
)
