"""The table of vendors: keys, resource names and annotations, as the default configuration gives them."""

from functools import cache
from pathlib import Path
from typing import Any

from scheduler_app import deviceconfig
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.deviceconfig import DeviceConfig
from scheduler_app.devices import vendors

CONFIG = Path(__file__).parent / "default-device-config.yaml"


def all_enabled() -> dict[str, bool]:
    """Return flags that enable every optional vendor."""
    return {vendor.enabling_flag: True for vendor in vendors() if vendor.enabling_flag}


def rows() -> list[dict[str, Any]]:
    """Return one row a backend, keys ascending."""
    found = _default()
    return [
        {
            "key": key,
            "vendor": found.titles[key],
            "units": units(backend),
            "resources": [
                name for name in (backend.names.count, backend.names.mem, backend.names.cores) if name
            ],
            "annotations": [
                name
                for name in (backend.keys.register, backend.keys.handshake, *backend.written_keys)
                if name
            ],
        }
        for key, backend in found.backends.items()
    ]


def units(backend: DeviceBackend) -> dict[str, str]:
    """Return in what a kind of card is read: memory and cores, empty where nobody counts them."""
    return {
        "memory": "MiB" if backend.counts_memory else "",
        "cores": backend.cores_unit if backend.counts_cores else "",
    }


def markdown() -> str:
    """Return the README's table: one row a backend, vendors by name; units say what an amount of 1 is."""
    by_title = {vendor.title: vendor for vendor in vendors()}
    found = _default()
    lines = ["| vendor | key | number of GPUs | memory | cores |", "|---|---|---|---|---|"]
    for key, backend in sorted(found.backends.items(), key=lambda item: (found.titles[item[0]], item[0])):
        names, vendor = backend.names, by_title[found.titles[key]]
        cells = (
            f"{vendor.title} (`--{vendor.enabling_flag}`)" if vendor.enabling_flag else vendor.title,
            f"`{key}`",
            _amount(names.count),
            _amount(names.mem, backend.asked_mem_unit or names.mem_unit),
            _amount(names.cores, backend.asked_cores_unit),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


@cache
def _default() -> DeviceConfig:
    return deviceconfig.load(CONFIG.read_text(encoding="utf-8"), all_enabled())


def _amount(resource: str, unit: str = "") -> str:
    if not resource:
        return "-"
    return f"`{resource}` ({unit})" if unit else f"`{resource}`"
