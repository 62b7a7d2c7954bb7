"""Backends for a recorded configuration: read once for each text and set of flags, copied for each case."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from scheduler_app import deviceconfig
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
