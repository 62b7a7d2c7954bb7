"""The reference's metric families as Prometheus text, current and legacy (core specification, section 10).

The lines of a node are made once for each version of it and kept, because a cluster of thousands of nodes
has tens of megabytes of text of which almost nothing changes between two scrapes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from scheduler_app import build_info
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.errors import HamiError
from scheduler_app.core.predicate import Backends
from scheduler_app.core.quota import NamespaceQuota
from scheduler_app.core.types import Allocation, Card, CardUsage, NodeName, NodeUsage, PodUid
from scheduler_app.engine.podbook import PodEntry

MIB = 1024 * 1024
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
NODES_PER_CHUNK = 100
SLICED_MODE = "mig"


@dataclass(frozen=True)
class Family:
    """A gauge family. ``legacy`` ones are only shown with ``--legacy-metrics``."""

    name: str
    help: str
    labels: tuple[str, ...]
    legacy: bool = False

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Positions of the labels in the order in which they are printed: ascending by name."""
        return tuple(sorted(range(len(self.labels)), key=lambda n: self.labels[n]))

    @cached_property
    def template(self) -> str:
        """A sample's text with ``{0}`` for the first label's value, and so on; the last is the number."""
        pairs = ",".join(f'{self.labels[n]}="{{{n}}}"' for n in self.order)
        return f'{self.name}{{{{{pairs},zone="vGPU"}}}} {{{len(self.labels)}}}\n'


_CARD = ("node", "device_uuid", "device_index", "device_type")
_OLD_CARD = ("nodeid", "deviceuuid", "deviceidx", "devicetype")
_MIG = ("mig_uuid", "profile", "gpu_instance_id", "compute_instance_id", "placement_start", "placement_size")

MEM_LIMIT = Family("hami_gpu_memory_limit_bytes", "Device memory limit for a certain GPU", _CARD)
CORE_LIMIT = Family("hami_gpu_core_limit_ratio", "Device core limit for a certain GPU", _CARD)
MEM_USED = Family(
    "hami_gpu_memory_allocated_bytes", "Device memory allocated for a certain GPU", (*_CARD, "device_cores")
)
SHARED = Family("hami_gpu_shared_count", "Number of containers sharing this GPU", _CARD)
CORE_USED = Family("hami_gpu_core_allocated_ratio", "Device core allocated for a certain GPU", _CARD)
OVERVIEW = Family(
    "hami_node_gpu_overview",
    "GPU overview on a certain node",
    (*_CARD, "device_cores", "device_memory_limit"),
)
MEM_RATIO = Family(
    "hami_node_gpu_memory_allocated_ratio", "GPU Memory Allocated Percentage on a certain GPU", _CARD
)
MIG_INFO = Family(
    "hami_node_gpu_mig_instance_info",
    "Realized MIG instance identity and scheduler placement",
    ("node", "device_uuid", "device_index", *_MIG),
)
OLD_MEM_LIMIT = Family("GPUDeviceMemoryLimit", "Device memory limit for a certain GPU", _OLD_CARD, True)
OLD_CORE_LIMIT = Family("GPUDeviceCoreLimit", "Device memory core limit for a certain GPU", _OLD_CARD, True)
OLD_MEM_USED = Family(
    "GPUDeviceMemoryAllocated",
    "Device memory allocated for a certain GPU",
    (*_OLD_CARD, "devicecores"),
    True,
)
OLD_SHARED = Family("GPUDeviceSharedNum", "Number of containers sharing this GPU", _OLD_CARD, True)
OLD_CORE_USED = Family("GPUDeviceCoreAllocated", "Device core allocated for a certain GPU", _OLD_CARD, True)
OLD_OVERVIEW = Family(
    "nodeGPUOverview",
    "GPU overview on a certain node",
    (*_OLD_CARD, "devicecores", "devicememorylimit"),
    True,
)
OLD_MEM_RATIO = Family(
    "nodeGPUMemoryPercentage",
    "GPU Memory Allocated Percentage on a certain GPU",
    ("nodeid", "deviceuuid", "deviceidx"),
    True,
)
OLD_MIG = Family(
    "nodeGPUMigInstance",
    "GPU Sharing mode. 0 for hami-core, 1 for mig, 2 for mps",
    ("nodeid", "deviceuuid", "deviceidx", "migname"),
    True,
)
_NODE_FAMILIES = (
    MEM_LIMIT, CORE_LIMIT, MEM_USED, SHARED, CORE_USED, OVERVIEW, MEM_RATIO, MIG_INFO,
    OLD_MEM_LIMIT, OLD_CORE_LIMIT, OLD_MEM_USED, OLD_SHARED, OLD_CORE_USED, OLD_OVERVIEW,
    OLD_MEM_RATIO, OLD_MIG,
)  # fmt: skip
_POD = ("namespace", "node", "pod", "container_index", "device_uuid")
_OLD_POD = ("podnamespace", "nodename", "podname", "containeridx", "deviceuuid")
POD_MEM = Family("hami_vgpu_memory_allocated_bytes", "vGPU memory allocated from a container", _POD)
POD_CORE = Family("hami_vgpu_core_allocated_ratio", "vGPU core allocated from a container", _POD)
OLD_POD_MEM = Family("vGPUMemoryAllocated", "vGPU memory allocated from a container", _OLD_POD, True)
OLD_POD_CORE = Family("vGPUCoreAllocated", "vGPU core allocated from a container", _OLD_POD, True)
QUOTA_USED = Family(
    "hami_resource_quota_used",
    "resourcequota usage for a certain device",
    ("namespace", "quota_name", "limit"),
)
QUOTA_LIMIT = Family(
    "hami_resource_quota_limit", "resourcequota limit for a certain device", ("namespace", "quota_name")
)
OLD_QUOTA_USED = Family(
    "QuotaUsed", "resourcequota usage for a certain device", ("quotanamespace", "quotaName", "limit"), True
)


def escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def number(value: float) -> str:
    """Return a value as the reference prints it: with an exponent from a million on and below 0.0001."""
    shown = float(value)
    if shown == 0 or 1e-4 <= abs(shown) < 1e6:
        return repr(shown).removesuffix(".0")
    digits = repr(shown).lstrip("-").partition("e")[0].replace(".", "").strip("0")
    return f"{shown:.{len(digits) - 1}e}"


def sample(family: Family, values: Sequence[str], value: float) -> str:
    """Return one line; ``values`` of the labels are escaped already, since a card's are used many times."""
    return family.template.format(*values, number(value))


def head(family: Family) -> str:
    return f"# HELP {family.name} {family.help}\n# TYPE {family.name} gauge\n"


class DuplicateSampleError(HamiError):
    """Two samples have the same labels, so nobody could tell them apart; the whole scrape fails (X-1)."""


class Cores:
    """Shows cores in percent for models that count them otherwise (X-4).

    The model's name decides, whichever vendor registered the card.
    """

    def __init__(self, backends: Backends) -> None:
        default = DeviceBackend.shows_percent
        self._judges = [b for b in backends.values() if type(b).shows_percent is not default]

    def limit(self, card: Card) -> float:
        return 100.0 if self._is_converted(card) else float(card.cores)

    def used(self, card: Card, amount: int) -> float:
        return float(math.ceil(amount / card.cores * 100)) if self._is_converted(card) else float(amount)

    def converted(self, usage: NodeUsage) -> Mapping[str, Card]:
        """Return the node's cards that are shown so, by id."""
        if not self._judges:
            return {}
        cards = [usage.card for usage in usage.cards]
        return {card.id: card for card in reversed(cards) if self._is_converted(card)}

    def _is_converted(self, card: Card) -> bool:
        return card.cores > 0 and any(judge.shows_percent(card) for judge in self._judges)


@dataclass(slots=True)
class _NodeText:
    version: int
    lines: Mapping[str, str]  # by family name
    converted: Mapping[str, Card]  # cards whose cores are shown in percent, by id


class Exposition:
    """Makes the text of a scrape. One scrape at a time; the metrics door has one thread."""

    def __init__(self, *, backends: Backends, legacy: bool, build: Mapping[str, str] | None = None) -> None:
        self._cores = Cores(backends)
        self._legacy = legacy
        self._kept: dict[NodeName, _NodeText] = {}
        self._kept_pods: dict[PodUid, tuple[PodEntry, tuple[str, ...]]] = {}
        self._build = build or build_info.INFO

    def chunks(
        self,
        overview: Mapping[NodeName, NodeUsage],
        pods: Iterable[PodEntry],
        quotas: Mapping[str, NamespaceQuota],
    ) -> Iterator[str]:
        """Yield the text family by family in pieces, so that other threads run between two of them.

        While the text of many nodes is made, empty pieces come first.

        Raises:
            DuplicateSampleError: before the first piece that is not empty.
        """
        texts: list[_NodeText] = []
        for name, usage in sorted(overview.items()):
            if len(texts) % NODES_PER_CHUNK == 0:
                yield ""
            texts.append(self._node(name, usage))
        yield self._build_info()
        self._kept = {name: text for name, text in self._kept.items() if name in overview}
        for family in _NODE_FAMILIES:
            if family.legacy and not self._legacy:
                continue
            yield from _joined(family, [text.lines.get(family.name, "") for text in texts])
        yield from self._quotas(quotas)
        converted = {card_id: card for text in reversed(texts) for card_id, card in text.converted.items()}
        yield from self._pods(converted, pods)

    def _build_info(self) -> str:
        pairs = ",".join(f'{name}="{escape(text)}"' for name, text in sorted(self._build.items()))
        name = "hami_build_info"
        help_text = "hami build metadata exposed as labels with a constant value of 1."
        return f"# HELP {name} {help_text}\n# TYPE {name} gauge\n{name}{{{pairs}}} 1\n"

    def _node(self, name: NodeName, usage: NodeUsage) -> _NodeText:
        kept = self._kept.get(name)
        if kept is None or kept.version != usage.version:
            kept = self._kept[name] = _NodeText(
                usage.version, self._lines(name, usage), self._cores.converted(usage)
            )
        return kept

    def _lines(self, name: NodeName, usage: NodeUsage) -> Mapping[str, str]:
        lines: dict[str, list[str]] = {}
        for card in usage.cards:
            for family, labels, value in _card_samples(name, card, self._cores):
                if self._legacy or not family.legacy:
                    lines.setdefault(family.name, []).append(sample(family, labels, value))
        for found in lines.values():
            _check_distinct(found)
        return {family: "".join(found) for family, found in lines.items()}

    def _quotas(self, quotas: Mapping[str, NamespaceQuota]) -> Iterator[str]:
        used: list[str] = []
        old: list[str] = []
        limits: list[str] = []
        for namespace, quota in quotas.items():
            for resource, entry in sorted(quota.entries.items()):
                labels = (escape(namespace), escape(resource), str(entry.limit or 0))
                used.append(sample(QUOTA_USED, labels, entry.used))
                old.append(sample(OLD_QUOTA_USED, labels, entry.used))
                if entry.limit is not None:
                    limits.append(sample(QUOTA_LIMIT, labels[:2], entry.limit))
        yield from _joined(QUOTA_USED, used)
        yield from _joined(QUOTA_LIMIT, limits)
        if self._legacy:
            yield from _joined(OLD_QUOTA_USED, old)

    def _pods(self, converted: Mapping[str, Card], pods: Iterable[PodEntry]) -> Iterator[str]:
        kept = self._kept_pods
        self._kept_pods = {}
        for entry in pods:
            known = kept.get(entry.pod.uid)
            if known is None or known[0] is not entry or converted:
                known = (entry, self._pod_lines(entry, converted))
            self._kept_pods[entry.pod.uid] = known
        for place, family in enumerate(_POD_FAMILIES):
            if self._legacy or not family.legacy:
                yield from _joined(family, [lines[place] for _, lines in self._kept_pods.values()])

    def _pod_lines(self, entry: PodEntry, converted: Mapping[str, Card]) -> tuple[str, ...]:
        """Return the text of a pod in each of the pod families."""
        lines: tuple[list[str], ...] = tuple([] for _ in _POD_FAMILIES)
        for labels, held in _held(entry):
            card, mem = converted.get(held.card), held.mem_mib * MIB
            shown = self._cores.used(card, held.cores) if card else float(held.cores)
            values = (mem, shown, mem, held.cores)
            for found, family, value in zip(lines, _POD_FAMILIES, values, strict=True):
                if self._legacy or not family.legacy:
                    found.append(sample(family, labels, value))
        return tuple("".join(found) for found in lines)


_POD_FAMILIES = (POD_MEM, POD_CORE, OLD_POD_MEM, OLD_POD_CORE)


def _check_distinct(lines: Sequence[str]) -> None:
    seen: set[str] = set()
    for line in lines:
        labels = line.rpartition(" ")[0]
        if labels in seen:
            raise DuplicateSampleError(f"{labels} was collected before with the same name and label values")
        seen.add(labels)


def _joined(family: Family, lines: list[str]) -> Iterator[str]:
    """Yield a family's head and lines in chunks; a family without samples is absent (X-1)."""
    if not any(lines):
        return
    yield head(family)
    for start in range(0, len(lines), NODES_PER_CHUNK):
        yield "".join(lines[start : start + NODES_PER_CHUNK])


def _held(entry: PodEntry) -> Iterator[tuple[tuple[str, ...], Allocation]]:
    """Yield the labels for each card a pod holds; cards without an id are skipped (10.3)."""
    pod = entry.pod
    for containers in entry.devices.values():
        for index, container in enumerate(containers):
            for held in container:
                if held.card:
                    texts = (pod.namespace, entry.node, pod.name, str(index), held.card)
                    yield tuple(map(escape, texts)), held


def _card_samples(
    name: NodeName, usage: CardUsage, shown: Cores
) -> Iterator[tuple[Family, tuple[str, ...], float]]:
    card = usage.card
    place = (escape(name), escape(card.id), str(card.index))
    labels = (*place, escape(card.type))
    cores, mem = str(card.cores), card.mem_mib * MIB
    used = usage.mem_used_mib * MIB
    for family, old, value, old_value in (
        (MEM_LIMIT, OLD_MEM_LIMIT, mem, mem),
        (CORE_LIMIT, OLD_CORE_LIMIT, shown.limit(card), card.cores),
        (SHARED, OLD_SHARED, usage.shares_used, usage.shares_used),
        (CORE_USED, OLD_CORE_USED, shown.used(card, usage.cores_used), usage.cores_used),
    ):
        yield family, labels, value
        yield old, labels, old_value
    for family in (MEM_USED, OLD_MEM_USED):
        yield family, (*labels, cores), used
    for family in (OVERVIEW, OLD_OVERVIEW):
        yield family, (*labels, cores, str(card.mem_mib)), used
    if card.mem_mib > 0:
        ratio = usage.mem_used_mib / card.mem_mib
        yield MEM_RATIO, labels, ratio
        yield OLD_MEM_RATIO, place, ratio
    yield from _slice_samples(place, usage)


def _slice_samples(
    place: tuple[str, ...], usage: CardUsage
) -> Iterator[tuple[Family, tuple[str, ...], float]]:
    """Yield instances that exist on a card that is cut into instances."""
    if usage.card.mode != SLICED_MODE:
        return
    for item in usage.slices:
        if not item.is_realized:
            continue
        gpu, compute = str(item.gpu_instance_id), str(item.compute_instance_id)
        at = (str(item.placement.start), str(item.placement.size))
        profile = escape(item.profile)
        yield MIG_INFO, (*place, escape(item.instance_uuid), profile, gpu, compute, *at), 1.0
        yield OLD_MIG, (*place, f"{profile}-{gpu}"), 1.0
