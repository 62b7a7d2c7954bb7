"""Backends for a recorded configuration: read once for each text and set of flags, copied for each case."""

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache

from scheduler_app import deviceconfig
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import VendorKey
from scheduler_app.devices import vendors

ENABLING = {vendor.enabling_flag: "false" for vendor in vendors() if vendor.enabling_flag}
"""Flags without which a vendor is left out, with what a process has by default."""


@lru_cache(maxsize=256)
def _load(text: str, flags: frozenset[tuple[str, bool]]) -> deviceconfig.DeviceConfig:
    return deviceconfig.load(text, dict(flags))


def load(text: str, flags: Mapping[str, bool]) -> deviceconfig.DeviceConfig:
    """Return what a configuration describes, with backends of its own: some learn from nodes (NEU-2).

    Raises:
        ConfigError: it is not acceptable.
    """
    pristine = _load(text, frozenset(flags.items()))
    return replace(pristine, order=tuple(copy.copy(backend) for backend in pristine.order))


def selected(backends: Backends, vendors: Collection[str]) -> Backends:
    """Return the backends with the given keys, case ignored; all without any key."""
    if not vendors:
        return backends
    wanted = {name.lower() for name in vendors}
    return {key: backend for key, backend in backends.items() if key.lower() in wanted}


def domains(backends: Mapping[VendorKey, DeviceBackend]) -> frozenset[str]:
    """Return the domains of the backends' resource names, such as ``example.com``."""
    names = (
        name for b in backends.values() for name in (b.names.count, b.names.mem, b.names.cores) if "/" in name
    )
    return frozenset(name.split("/")[0] for name in names)
