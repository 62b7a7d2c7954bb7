"""What a pod counts for on its cards: containers collapsed to one amount a card (M-12 to M-15, Q-5, Q-23)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler_app.core.types import Allocation, CardId, Containers, Devices, Pod, VendorKey

if TYPE_CHECKING:
    from scheduler_app.core.fit import FitContext


@dataclass(frozen=True, slots=True)
class Amount:
    mem_mib: int = 0
    cores: int = 0
    shares: int = 0


@dataclass(slots=True)
class _Tally:
    """Peaks of the init containers and sums of the app containers on one card."""

    init_mem: int = 0
    init_cores: int = 0
    init_shares: int = 0
    app_mem: int = 0
    app_cores: int = 0
    app_shares: int = 0

    def init(self, allocation: Allocation) -> None:
        self.init_mem = max(self.init_mem, allocation.mem_mib)
        self.init_cores = max(self.init_cores, allocation.cores)
        self.init_shares = 1

    def app(self, allocation: Allocation) -> None:
        self.app_mem += allocation.mem_mib
        self.app_cores += allocation.cores
        self.app_shares += 1

    @property
    def mem_mib(self) -> int:
        return max(self.init_mem, self.app_mem)

    @property
    def cores(self) -> int:
        return max(self.init_cores, self.app_cores)

    @property
    def shares(self) -> int:
        return max(self.init_shares, self.app_shares, 1)


def init_flags(pod: Pod) -> tuple[bool, ...]:
    """Return, by position of an init container, whether it ends before the app containers start.

    A sidecar does not: it runs beside them and counts with them (Q-23).
    """
    return tuple(not container.restarts_always for container in pod.init_containers)


def collapse(pod: Pod, devices: Devices) -> Devices:
    """Return one pseudo-container a vendor: the effective use of each card, sorted by id (M-12)."""
    flags = init_flags(pod)
    return {vendor: (_effective(vendor, containers, flags),) for vendor, containers in devices.items()}


def app_only(pod: Pod, devices: Devices) -> Devices:
    """Return the use once the init containers have ended: sums over sidecars and app containers (M-13)."""
    flags = init_flags(pod)
    return {vendor: (_running(vendor, containers, flags),) for vendor, containers in devices.items()}


def total(devices: Devices, vendor: VendorKey) -> Amount:
    """Sum a vendor's allocations, as quota counts them (M-29)."""
    held = [allocation for container in devices.get(vendor, ()) for allocation in container]
    return Amount(sum(a.mem_mib for a in held), sum(a.cores for a in held), sum(a.shares for a in held))


def with_container(context: FitContext, vendor: VendorKey, more: Sequence[Allocation]) -> Amount:
    """Return what the pod would count for with ``more`` in the container being fitted (NV-46, MLU-40)."""
    before = context.given.get(vendor, ())
    padded = before + ((),) * (context.position - len(before))
    tallies = _tallies((*padded, tuple(more)), init_flags(context.pod)).values()
    return Amount(
        sum(t.mem_mib for t in tallies), sum(t.cores for t in tallies), sum(t.shares for t in tallies)
    )


def _tallies(containers: Containers, flags: Sequence[bool]) -> dict[CardId, _Tally]:
    tallies: dict[CardId, _Tally] = {}
    for position, container in enumerate(containers):
        is_init = position < len(flags) and flags[position]
        for allocation in container:
            tally = tallies.get(allocation.card)
            if tally is None:
                tally = tallies[allocation.card] = _Tally()
            (tally.init if is_init else tally.app)(allocation)
    return tallies


def _effective(vendor: VendorKey, containers: Containers, flags: Sequence[bool]) -> tuple[Allocation, ...]:
    tallies = _tallies(containers, flags)
    return tuple(
        Allocation(card, vendor, t.mem_mib, t.cores, shares=t.shares) for card, t in sorted(tallies.items())
    )


def _running(vendor: VendorKey, containers: Containers, flags: Sequence[bool]) -> tuple[Allocation, ...]:
    tallies = _tallies(containers, flags)
    return tuple(
        Allocation(card, vendor, t.app_mem, t.app_cores, shares=t.app_shares)
        for card, t in sorted(tallies.items())
        if t.app_shares
    )
