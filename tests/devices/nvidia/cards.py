"""NVIDIA cards, requests and fits as the case tables write them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scheduler_app.core.quota import NO_QUOTA, NamespaceQuota, QuotaEntry
from scheduler_app.core.types import (
    CardRequest,
    CardUsage,
    Containers,
    Placement,
    Pod,
    SliceInUse,
    SliceProfile,
)
from scheduler_app.devices.nvidia.backend import NvidiaBackend
from scheduler_app.devices.nvidia.config import NvidiaConfig
from tests.factories import make_card, make_context, make_node, make_pod

GPU, MEM, PERCENT, CORES, PRIORITY = (
    "nvidia.com/gpu",
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
    "nvidia.com/priority",
)


def config(**values: Any) -> NvidiaConfig:
    """Return the chart's configuration, changed by ``values``."""
    chart: dict[str, Any] = {
        "resource_count_name": GPU,
        "resource_memory_name": MEM,
        "resource_memory_percentage_name": PERCENT,
        "resource_core_name": CORES,
        "resource_priority_name": PRIORITY,
        "default_gpu_num": 1,
        "memory_factor": 1,
        "gpu_core_policy": "default",
    }
    return NvidiaConfig(**{**chart, **values})


NVIDIA = NvidiaBackend(config())


def card(id: str, **values: Any) -> CardUsage:
    """Return an idle shared card of 10 shares and 1000 MiB."""
    defaults = {"type": "NVIDIA-A100", "mem_mib": 1000, "mode": "hami-core"}
    return make_card(id=id, **{**defaults, **values})


def profile(
    name: str, mem_mib: int, slices: int, places: Sequence[tuple[int, int]], cores: int = 0
) -> SliceProfile:
    return SliceProfile(name, mem_mib, cores, slices, tuple(Placement(start, size) for start, size in places))


A100_40GB = (  # NV-61
    profile("1g.5gb", 5120, 1, [(start, 1) for start in range(7)], 14),
    profile("2g.10gb", 10240, 2, [(0, 2), (2, 2), (4, 2)], 28),
    profile("3g.20gb", 20480, 3, [(0, 4), (4, 4)], 42),
    profile("7g.40gb", 40192, 7, [(0, 8)], 100),
)


def mig_card(id: str = "m", *, slices_in_use: Sequence[tuple[int, int]] = (), **values: Any) -> CardUsage:
    """Return an A100 of 7 instances; ``slices_in_use`` are starts and sizes."""
    made = card(id, **{"shares": 7, "mem_mib": 40960, "mode": "mig", "profiles": A100_40GB, **values})
    return replace(made, slices=tuple(SliceInUse("?", Placement(*place)) for place in slices_in_use))


def ask(cards: int = 1, mem_mib: int = 100, percent: int = 101, cores: int = 0) -> CardRequest:
    return CardRequest(cards, NVIDIA.vendor_key, mem_mib, percent, cores)


def limit(**limits: int) -> NamespaceQuota:
    """Return a namespace with these limits, nothing used: ``mem`` in units of the resource, ``cores``."""
    names = {"mem": MEM, "cores": CORES}
    return NamespaceQuota({names[key]: QuotaEntry(0, value, "quota") for key, value in limits.items()})


def fit(
    cards: Sequence[CardUsage],
    request: CardRequest,
    *,
    annotations: Mapping[str, str] | None = None,
    cordon: str | None = None,
    policy: str = "spread",
    quota: NamespaceQuota = NO_QUOTA,
    backend: NvidiaBackend = NVIDIA,
    pod: Pod | None = None,
    given: Containers = (),
) -> tuple[list[str], str]:
    """Return the ids of the cards taken, in order, and the reason text."""
    node = make_node(annotations={} if cordon is None else {"hami.io/device-cordon": cordon})
    context = make_context(
        pod=pod or make_pod(annotations=annotations or {}),
        node=node,
        policy=policy,
        quota=quota,
        given={backend.vendor_key: given},
        position=len(given),
    )
    result = backend.fit(context, cards, request)
    return [taken.card for taken in result.allocations], result.reason
