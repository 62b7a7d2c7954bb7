"""AWS Neuron. Rules NEU-1 to NEU-9.

A card's cores are a bit mask, one bit a core: a card of two cores has 3, and an allocation's cores say which
were given. What Neuron's own plugin reads is ``AWS_NEURON_IDS: "4,5"``, numbers of cards or of cores.

Parity: how many cores a card has is learned from the first node that is read, and holds for all (NEU-2).
Admission and extraction need it and see no node, so the backend keeps this one number; until then it is 0,
on replicas that do not lead for ever. It changes once, so no thread can see it half done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scheduler_app.core import annotations, codec, quantity, reasons, registration_text
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import DeviceBackend, Keys, ResourceNames, Vendor
from scheduler_app.core.display import CORES
from scheduler_app.core.errors import AdmissionError, CodecError
from scheduler_app.core.fit import FitContext, FitResult, FitRun
from scheduler_app.core.types import (
    Allocation,
    Card,
    CardId,
    CardRequest,
    CardUsage,
    Container,
    Containers,
    Node,
    Pod,
    VendorKey,
)

KEY = VendorKey("AWSNeuron")
KEYS = Keys(
    allocated="hami.io/aws-neuron-devices-allocated",
    use_uuid="aws.amazon.com/use-neuron-uuid",
    nouse_uuid="aws.amazon.com/nouse-neuron-uuid",
)
IDS = "AWS_NEURON_IDS"
RESOURCE_TYPE = "NEURON_RESOURCE_TYPE"
ALLOC_TIME = "NEURON_ALLOC_TIME"
ALLOCATED = "NEURON_ALLOCATED"
PREDICATE_NODE = "aws.amazon.com/predicate-node"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"

NODE_TYPE = "AWSNodeType"
CORES_GIVEN = "awsusageinfo"
BOTH_CORES = 3
MOST_CORES = 31  # a mask of more does not fit 32 bits
MOST_CARDS_ASKED = quantity.INT32_MAX
MOST_CORES_ASKED = 2 * quantity.INT32_MAX
ALIGNED_WINDOWS = (1, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Config:
    """The section ``awsneuron`` of the device configuration (DCF-5)."""

    resource_count_name: str = ""
    resource_core_name: str = ""


class AwsNeuronBackend(DeviceBackend):
    """One card by its free cores, several only as neighbours (NEU-5, NEU-6)."""

    vendor_key = KEY
    keys = KEYS
    clamps_cores = False
    checks_model = True
    counts_memory = False
    cores_unit = asked_cores_unit = CORES
    quota_cores_unit = "core mask"

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(config.resource_count_name, cores=config.resource_core_name)
        self.cores_per_card = 0

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Change nothing, but refuse what cannot be scheduled (NEU-4).

        Raises:
            AdmissionError: the amount is no whole number, out of range, or cores that make no whole cards.
        """
        return self._asked(container.limits, container.requests) is not None

    def request(self, container: Container) -> CardRequest | None:
        try:
            return self._asked(container.limits, container.requests)
        except AdmissionError:
            return None

    def _asked(self, limits: Mapping[str, str], requests: Mapping[str, str]) -> CardRequest | None:
        """Read cards, or cores where no cards are named (NEU-4); cards are asked with all their cores."""
        names = self.names
        text = quantity.lookup(names.count, limits, requests)
        if text is not None:
            cards = _whole(names.count, text, most=MOST_CARDS_ASKED)
            return CardRequest(cards, KEY, cores=self.cores_per_card)
        text = quantity.lookup(names.cores, limits, requests)
        if text is None:
            return None
        return self._split(_whole(names.cores, text, most=MOST_CORES_ASKED))

    def _split(self, cores: int) -> CardRequest:
        """Turn a number of cores into cards with one or two cores each."""
        per_card = min(self.cores_per_card, 2) or 2
        if cores <= per_card:
            return CardRequest(1, KEY, cores=cores)
        cards, rest = divmod(cores, per_card)
        name = self.names.cores
        if rest:
            raise AdmissionError(f"{name} must be 1 or a multiple of {per_card}, got {cores}")
        if cards > MOST_CARDS_ASKED:
            most = f"exceeds the maximum of {MOST_CARDS_ASKED}"
            raise AdmissionError(f"{name} needs {cards} devices, which {most}")
        return CardRequest(cards, KEY, cores=per_card)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        """Return as many equal cards as the node's capacity says (NEU-2)."""
        count = registration_text.required_capacity(node, self.names.count)
        positions = registration_text.card_positions(count, resource=self.names.count)
        if count > 0 and not self.cores_per_card:
            self.cores_per_card = self._cores_per_card(node, count)
        cores = self.cores_per_card
        mask, custom = (1 << cores) - 1, {NODE_TYPE: node.labels.get(INSTANCE_TYPE, "")}
        return tuple(
            Card(CardId(f"{node.name}-{KEY}-{n}"), KEY, KEY, n, shares=cores, cores=mask, custom=custom)
            for n in positions
        )

    def _cores_per_card(self, node: Node, cards: int) -> int:
        cores = max(registration_text.capacity(node, self.names.cores), 0) // cards
        if cores > MOST_CORES:
            raise CodecError(f"{self.names.cores}: {cores} cores a card, expected at most {MOST_CORES}")
        return cores

    def fit(self, context: FitContext, cards: Sequence[CardUsage], request: CardRequest) -> FitResult:
        """Place one card by the common loop. Several must be one window of the list, which no loop finds.

        Parity: several cards are not checked for ids, shares, cores or neighbours (NEU-5, NEU-E26).
        """
        if request.cards <= 1:
            return super().fit(context, cards, request)
        window = _free_window(cards, request.cards)
        if window is None:
            return FitResult.refused({reasons.NUMA_NOT_FIT: 1}, cards=len(cards))
        # Parity: a place in the list is taken for a card's number, which differ when the list was reordered,
        # so that under "mutex" a used card can be handed out (NEU-E27).
        by_number = {usage.card.index: usage.card for usage in reversed(cards)}
        taken = [by_number[number] for number in window if number in by_number]
        return FitResult(
            tuple(Allocation(card.id, KEY, card.mem_mib, card.cores, index=card.index) for card in taken)
        )

    def capacity_refusal(self, run: FitRun, card: CardUsage) -> str | None:
        """Count free cores; there is no memory to check (NEU-6, step 6)."""
        free = _bits(card.card.cores) - _bits(card.cores_used)
        return reasons.CARD_INSUFFICIENT_CORE if free < run.request.cores else None

    def allocation(self, run: FitRun, card: CardUsage) -> Allocation:
        mask = _mask(_cores_given(card), run.request.cores)
        return Allocation(card.id, KEY, 0, mask, index=card.card.index, custom={CORES_GIVEN: mask})

    def add_usage(self, card: CardUsage, allocation: Allocation, pod: Pod) -> tuple[CardUsage, Allocation]:
        """Remember besides which cores are given, until usage is next counted from the pods (NEU-7)."""
        given = _cores_given(card) + allocation.custom.get(CORES_GIVEN, 0)
        used, record = super().add_usage(card, allocation, pod)
        return replace(used, custom={**card.custom, CORES_GIVEN: given}), record

    def annotations(self, pod: Pod, containers: Containers, *, now_ns: int) -> Mapping[str, str]:
        """Write the device text, and one list of numbers for the whole pod (NEU-8).

        Parity: numbers of cards and of cores stand side by side when containers ask differently (NEU-E32).
        """
        written = {self.keys.allocated: codec.encode_devices(containers)}
        ids: list[int] = []
        for container, held in zip(pod.all_containers, containers, strict=False):
            if self.names.count in container.limits:
                ids += [allocation.index for allocation in held]
            elif cores := [core for allocation in held for core in self._core_numbers(allocation)]:
                ids += cores
                written[RESOURCE_TYPE] = self.names.cores
        if ids:
            written[IDS] = ",".join(map(str, ids))
            written[ALLOC_TIME] = str(now_ns)
            written[ALLOCATED] = "false"
            written[PREDICATE_NODE] = pod.annotations.get(annotations.ASSIGNED_NODE, "")
        return written

    def _core_numbers(self, allocation: Allocation) -> list[int]:
        """Return the node-wide numbers of the cores in a mask. Parity: of the first two only (NEU-6)."""
        first = self.cores_per_card * allocation.index
        return [first + bit for bit in (0, 1) if allocation.cores >> bit & 1]

    @property
    def written_keys(self) -> tuple[str, ...]:
        return (self.keys.allocated, IDS, RESOURCE_TYPE, ALLOC_TIME, ALLOCATED, PREDICATE_NODE)

    def held_cores(self, cores: int) -> int:
        """Return the number of cores in a mask."""
        return _bits(cores)

    def part(self, pod: Pod, position: int, held: Allocation) -> str:
        """Return the cores by Neuron's name, numbered within their card: ``"NC0"``, ``"NC0-1"``."""
        numbers = [number for number in range(MOST_CORES) if held.cores >> number & 1]
        if not numbers:
            return ""
        return f"NC{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else f"NC{numbers[0]}"


def _whole(name: str, text: str, *, most: int) -> int:
    value = quantity.exact(text)
    if value is None:
        raise AdmissionError(f"{name} must be an integer")
    if value <= 0:
        raise AdmissionError(f"{name} must be greater than 0")
    if value > most:
        raise AdmissionError(f"{name} must not exceed {most}")
    return value


def _free_window(cards: Sequence[CardUsage], size: int) -> range | None:
    """Return the first ``size`` places in a row whose cards nobody uses (NEU-5).

    Inferentia takes any place to start, Trainium only multiples of the size, and only sizes of its topology.
    """
    node_type = str(cards[0].custom.get(NODE_TYPE, "")) if cards else ""
    is_inferentia = "inf" in node_type or "Inf" in node_type
    if not is_inferentia and size not in ALIGNED_WINDOWS:
        return None
    for start in range(0, len(cards) - size + 1, 1 if is_inferentia else size):
        if all(card.healthy and card.shares_used <= 0 for card in cards[start : start + size]):
            return range(start, start + size)
    return None


def _bits(mask: int) -> int:
    return mask.bit_count() if mask > 0 else 0


def _cores_given(card: CardUsage) -> int:
    """Return the mask of cores given away, as remembered, else as counted."""
    return int(card.custom.get(CORES_GIVEN, card.cores_used))


def _mask(given: int, cores: int) -> int:
    """Return which cores to give. Parity: it knows cards of two cores and no others (NEU-6, NEU-E16)."""
    if given == 0 and cores in (1, 2):
        return 1 if cores == 1 else BOTH_CORES
    return BOTH_CORES - given


def build(config: Config) -> list[DeviceBackend]:
    return [AwsNeuronBackend(config)]


VENDOR = Vendor(
    name="awsneuron",
    title="AWS Neuron",
    config_key="awsneuron",
    config=Config,
    build=build,
    rank=11,
)
