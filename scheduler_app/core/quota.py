"""ResourceQuota arithmetic (M-24 to M-31).

Limits are kept per object and the smallest holds (Q-24); usage is in the vendors' own units.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler_app.core import quantity
from scheduler_app.core.types import NOTHING, ResourceQuota

if TYPE_CHECKING:
    from scheduler_app.core.backend import ResourceNames

LIMITS_PREFIX = "limits."


@dataclass(frozen=True, slots=True)
class QuotaEntry:
    """One resource of one namespace. ``limit`` None is none; ``source`` is the object whose limit holds."""

    used: int = 0
    limit: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class NamespaceQuota:
    """A namespace's entries by bare resource name, as one frozen picture."""

    entries: Mapping[str, QuotaEntry] = NOTHING

    def binds(self, names: "ResourceNames") -> bool:
        """Say whether there is a limit on any of these resources."""
        return any(
            entry is not None and entry.limit is not None
            for entry in (self.entries.get(names.mem), self.entries.get(names.cores))
        )

    def allows(self, names: "ResourceNames", *, mem_mib: int, cores: int) -> bool:
        """Say whether so much more may be used (M-31). Equality fits; 0 blocks any positive request."""
        return self._fits(names.mem, mem_mib, max(names.mem_factor, 1)) and self._fits(names.cores, cores, 1)

    def _fits(self, resource: str, more: int, factor: int) -> bool:
        entry = self.entries.get(resource) if resource else None
        return entry is None or entry.limit is None or entry.used + more <= entry.limit * factor


NO_QUOTA = NamespaceQuota()


def limits_of(quota: ResourceQuota, managed: frozenset[str]) -> dict[str, int]:
    """Return the limits an object sets for managed resources; what has no exact reading is ignored (M-26)."""
    found = {}
    for key, text in quota.hard.items():
        resource = key.removeprefix(LIMITS_PREFIX)
        if resource == key or resource not in managed:
            continue
        value = quantity.exact(text)
        if value is not None:
            found[resource] = value
    return found


def smallest(limits: Iterable[tuple[str, int]]) -> tuple[str, int] | None:
    """Return the ``(object name, limit)`` that holds among several objects of one namespace (Q-24)."""
    return min(limits, key=lambda pair: (pair[1], pair[0]), default=None)
