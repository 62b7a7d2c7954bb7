"""Quota per namespace and resource: limits by object, use by what counted pods hold (M-24 to M-30, Q-24).

Not locked: ``cache.ClusterState`` owns one and calls it under its lock.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scheduler_app.core import accounting, quota
from scheduler_app.core.quota import NO_QUOTA, NamespaceQuota, QuotaEntry
from scheduler_app.core.types import Devices, ResourceQuota
from scheduler_app.engine.nodebook import Backends


@dataclass(slots=True)
class _Slot:
    used: int = 0
    limits: dict[str, int] = field(default_factory=dict)  # by quota object

    def entry(self) -> QuotaEntry:
        holds = quota.smallest(self.limits.items())
        return QuotaEntry(self.used) if holds is None else QuotaEntry(self.used, holds[1], holds[0])


class QuotaBook:
    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        names = [name for b in backends.values() for name in (b.names.mem, b.names.cores) if name]
        self._managed = frozenset(names)
        self._slots: dict[str, dict[str, _Slot]] = {}
        self._views: dict[str, NamespaceQuota] = {}
        self.changed = True

    def put(self, item: ResourceQuota) -> None:
        """Set what an object limits; what it limited before and no longer does is dropped at once."""
        self.drop(item)
        for resource, limit in quota.limits_of(item, self._managed).items():
            self._slot(item.namespace, resource).limits[item.name] = limit

    def drop(self, item: ResourceQuota) -> None:
        for slot in self._slots.get(item.namespace, {}).values():
            slot.limits.pop(item.name, None)
        self._stale(item.namespace)

    def charge(self, namespace: str, devices: Devices, *, sign: int) -> None:
        """Add or take back what a pod holds; vendors without memory and core resources count nothing."""
        for resource, amount in self._amounts(devices):
            self._slot(namespace, resource).used += sign * amount
        self._stale(namespace)

    def view(self, namespace: str) -> NamespaceQuota:
        """Return the namespace's entries as one frozen picture, made once until something changes."""
        if namespace not in self._slots:
            return NO_QUOTA
        found = self._views.get(namespace)
        if found is None:
            slots = self._slots[namespace]
            found = NamespaceQuota({resource: slot.entry() for resource, slot in slots.items()})
            self._views[namespace] = found
        return found

    def views(self) -> Mapping[str, NamespaceQuota]:
        return {namespace: self.view(namespace) for namespace in sorted(self._slots)}

    def _amounts(self, devices: Devices) -> Iterator[tuple[str, int]]:
        for vendor in devices:
            backend = self._backends.get(vendor)
            if backend is None:
                continue
            if not any(devices[vendor]):
                continue  # nothing held makes no entries, nothing asked of a card does (M-29, M-30)
            amount = accounting.total(devices, vendor)
            if backend.names.mem:
                yield backend.names.mem, amount.mem_mib
            if backend.names.cores:
                yield backend.names.cores, amount.cores

    def _slot(self, namespace: str, resource: str) -> _Slot:
        return self._slots.setdefault(namespace, {}).setdefault(resource, _Slot())

    def _stale(self, namespace: str) -> None:
        self._views.pop(namespace, None)
        self.changed = True
