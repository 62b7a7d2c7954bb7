"""Which cases and backends a replay is about, while not all vendors are there (``--vendors``)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scheduler_app.conformance import configurations
from scheduler_app.conformance.cases import Case
from scheduler_app.core.predicate import Backends

NATIVE = frozenset(("kubernetes.io", "hami.io"))


@dataclass(frozen=True, slots=True)
class Scope:
    """``vendors`` are backend keys; none means all."""

    vendors: tuple[str, ...] = ()

    def backends(self, backends: Backends) -> Backends:
        return configurations.selected(backends, self.vendors)

    def includes(self, case: Case) -> bool:
        """Say whether a case is about these vendors alone: no resource of another domain occurs in it."""
        if not self.vendors:
            return True
        vendor = case.raw.get("vendor")
        if vendor is not None:
            return vendor.lower() in {name.lower() for name in self.vendors}
        return _domains(case.raw) <= configurations.domains(self.backends(_all_backends(case))) | NATIVE


def _all_backends(case: Case) -> Backends:
    name = case.raw.get("device_config") or case.raw.get("config", "chart")
    enabling = dict.fromkeys(configurations.ENABLING, True)
    return configurations.load(case.configs[name], enabling).backends


def _domains(value: Any) -> frozenset[str]:
    """Return the domains of all resources that pods, nodes and quotas of a case name."""
    return frozenset(name.removeprefix("limits.").split("/")[0] for name in _resources(value) if "/" in name)


def _resources(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _resources(item)
    elif isinstance(value, dict):
        for key, member in value.items():
            if key in ("limits", "requests", "capacity", "allocatable", "hard") and isinstance(member, dict):
                yield from member
            else:
                yield from _resources(member)
