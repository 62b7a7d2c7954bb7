"""Slices of Enflame cards: a request is one profile of one card. Rules ENF-1 to ENF-11."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scheduler_app.core import amounts, codec, quantity, reasons
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import WHOLE_CARD_CORES, DeviceBackend, Keys, ResourceNames
from scheduler_app.core.display import Asked, Pair
from scheduler_app.core.errors import AdmissionError, CodecError
from scheduler_app.core.fit import FitContext, FitResult
from scheduler_app.core.types import (
    Allocation,
    Card,
    CardRequest,
    CardUsage,
    Container,
    Containers,
    Custom,
    Node,
    Pod,
    VendorKey,
)
from scheduler_app.devices.enflame import inventory, profiles
from scheduler_app.devices.enflame.config import Config

ASSIGNED = "enflame.com/gcu-assigned"
ASSIGNED_TIME = "enflame.com/gcu-assigned-time"
ASSIGNED_INDEX = "enflame.com/gcu-assigned-index"
ASSIGNED_ID = "enflame.com/gcu-assigned-id"
ASSIGNED_MINOR = "enflame.com/gcu-assigned-minor"
REQUEST_SIZE = "enflame.com/gcu-request-size"
ASSIGNED_CONTAINERS = "assigned-containers"

BY_SPEC = -1
PROFILE_NAME = "profileName"
PROFILE_ID = "profileID"
SLICE = "drsSlice"


class DrsBackend(DeviceBackend):
    """The common fit with the profile's memory and cores instead of the request's (ENF-7)."""

    vendor_key = VendorKey("Enflame")
    keys = Keys(
        allocated="hami.io/enflame-vgpu-devices-allocated",
        register=inventory.REGISTER,
        use_uuid="enflame.com/use-gpuuuid",
        nouse_uuid="enflame.com/nouse-gpuuuid",
    )
    clamps_cores = False
    asked_mem_unit = "GiB"
    checks_exclusive = False

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(
            count=config.resource_name_drs_gcu or config.resource_name_vgcu or "enflame.com/drs-gcu",
            mem=config.resource_name_gcu_memory or "enflame.com/gcu-memory",
            cores=config.resource_name_gcu_core or "enflame.com/gcu-core",
        )

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Check the amounts and write each to limits and requests both (ENF-4).

        Raises:
            AdmissionError: an amount of 0 or less, or more than 100 % of the cores.
        """
        names = self.names
        asked = [names.count] if container.has(names.count) else [names.mem, names.cores]
        for name in filter(container.has, asked):
            self._check(name, quantity.rounded(container.quantity_text(name) or ""))
        amounts.warn_unreadable(container, *asked)
        for name in filter(container.has, asked):
            container.complete(name)
        return any(map(container.has, asked))

    def request(self, container: Container) -> CardRequest | None:
        """Return the size of a slice, or memory and cores to choose one by; always of one card (ENF-5)."""
        count, mem, cores = (
            quantity.lookup(name, container.limits, container.requests)
            for name in (self.names.count, self.names.mem, self.names.cores)
        )
        size = None if count is None else quantity.exact(count)
        if size is not None and size > 0:
            return self._request(size, 0, percent=profiles.BY_SLICE)
        if mem is None and cores is None:
            return None
        return self._request(quantity.rounded(mem or "0"), quantity.rounded(cores or "0"), percent=BY_SPEC)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        return inventory.read(node, vendor=self.vendor_key)

    def fit(self, context: FitContext, cards: Sequence[CardUsage], request: CardRequest) -> FitResult:
        """Choose the profile once for all cards, then fit what it takes and note what it is (ENF-6, ENF-7).

        Parity: free slices are not compared with the profile's size, memory and cores decide (ENF-E22).
        """
        choice = profiles.choose(cards, request)
        if choice is None:
            return FitResult.refused({reasons.MODE_NOT_FIT: 1}, cards=len(cards))
        taken = replace(request, mem_mib=choice.mem_mib, mem_percent=0, cores=choice.cores)
        result = super().fit(context, cards, taken)
        about = {card.id: _about(choice, card, request) for card in cards} if result.is_fit else {}
        return replace(
            result,
            allocations=tuple(replace(given, custom=about[given.card]) for given in result.allocations),
        )

    def add_usage(self, card: CardUsage, allocation: Allocation, pod: Pod) -> tuple[CardUsage, Allocation]:
        """Count the slices of this pod; once it is recorded every container counts one (Parity: ENF-8)."""
        size = allocation.custom.get(SLICE)
        shares = size if isinstance(size, int) and size > 0 else 1
        shares = min(shares, quantity.INT32_MAX - card.shares_used)
        return card.plus(shares=shares, mem_mib=allocation.mem_mib, cores=allocation.cores), allocation

    def annotations(self, pod: Pod, containers: Containers, *, now_ns: int) -> Mapping[str, str]:
        """Describe the first container's slice under plain keys, and every container's as JSON (ENF-10)."""
        names = [container.name for container in pod.all_containers]
        names += [f"container-{place}" for place in range(len(names), len(containers))]
        first = {
            name: container[0].custom for name, container in zip(names, containers, strict=False) if container
        }
        written = {
            **super().annotations(pod, containers, now_ns=now_ns),
            ASSIGNED: "false",
            ASSIGNED_TIME: str(now_ns),
        }
        if first:
            written |= _slice_keys(next(iter(first.values())))
            slices = {name: _slice(custom) for name, custom in sorted(first.items())}
            written[ASSIGNED_CONTAINERS] = codec.compact_json(slices)
        return written

    @property
    def written_keys(self) -> tuple[str, ...]:
        own = (ASSIGNED, ASSIGNED_TIME, ASSIGNED_INDEX, ASSIGNED_ID, ASSIGNED_MINOR, REQUEST_SIZE)
        return (*super().written_keys, *own, ASSIGNED_CONTAINERS)

    def shown_shares(self, card: CardUsage) -> Pair:
        """Slices, told from their cores, because a recorded container of any size counts one (ENF-8)."""
        slices = card.card.custom.get(profiles.MAX_SLICE, card.card.shares)
        return card.cores_used * slices // WHOLE_CARD_CORES, card.card.shares

    def part(self, pod: Pod, position: int, held: Allocation) -> str:
        """Return the profile that was written for the container (ENF-10)."""
        names = [container.name for container in pod.all_containers]
        return _profiles(pod).get(names[position], "") if position < len(names) else ""

    def asked(self, request: CardRequest) -> Asked:
        """Slices, or memory in GiB with cores; which profile that is, its node decides (ENF-5)."""
        if request.mem_percent == profiles.BY_SLICE:
            return Asked(slices=request.mem_mib)
        mem_mib = profiles.in_mib(request.mem_mib)
        return Asked(mem_mib=max(mem_mib, 0), cores=max(request.cores, 0))

    def _check(self, name: str, amount: int) -> None:
        if name == self.names.cores and not 0 < amount <= 100:
            raise AdmissionError(f"{name} must be in range (0,100]")
        if amount <= 0:
            raise AdmissionError(f"{name} must be greater than 0")

    def _request(self, mem: int, cores: int, *, percent: int) -> CardRequest | None:
        if not all(-quantity.INT32_MAX - 1 <= amount <= quantity.INT32_MAX for amount in (mem, cores)):
            return None
        return CardRequest(1, self.vendor_key, mem, percent, cores)


def _about(choice: profiles.Choice, card: CardUsage, request: CardRequest) -> Custom:
    """Return what the annotations say of a slice; the card's own index and minor come from its node."""
    return {
        PROFILE_NAME: choice.profile.name,
        PROFILE_ID: choice.profile.id,
        inventory.MINOR: card.custom.get(inventory.MINOR, ""),
        inventory.INDEX: card.custom.get(inventory.INDEX, ""),
        SLICE: choice.profile.size,
        "requestMem": choice.asked_gb,
        "requestCore": request.cores,
    }


def _slice_keys(custom: Custom) -> dict[str, str]:
    """Return the annotations that describe one slice; empty texts are not written."""
    index, minor, size = custom.get(inventory.INDEX), custom.get(inventory.MINOR), custom.get(SLICE)
    found = {ASSIGNED_INDEX: index, ASSIGNED_ID: index, ASSIGNED_MINOR: minor, REQUEST_SIZE: size}
    return {key: str(value) for key, value in found.items() if value not in (None, "")}


def _profiles(pod: Pod) -> Mapping[str, str]:
    """Return the profiles that ``ASSIGNED_CONTAINERS`` names, by container; none when it cannot be read."""
    try:
        data = codec.load_json(pod.annotations.get(ASSIGNED_CONTAINERS, "{}"))
    except CodecError:
        return {}
    found = data if isinstance(data, dict) else {}
    return {name: str(one.get(PROFILE_NAME, "")) for name, one in found.items() if isinstance(one, dict)}


def _slice(custom: Custom) -> dict[str, object]:
    members = {"allocated": False, "request": custom.get(SLICE)}
    named = {key: custom[key] for key in (PROFILE_ID, PROFILE_NAME) if custom.get(key)}
    return {**members, **named}
