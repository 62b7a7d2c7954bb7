"""The table of vendors: keys, resource names and annotations, as the default configuration gives them."""

from pathlib import Path
from typing import Any

from scheduler_app import deviceconfig
from scheduler_app.devices import vendors

CONFIG = Path(__file__).parent / "default-device-config.yaml"


def all_enabled() -> dict[str, bool]:
    """Return flags that enable every optional vendor."""
    return {vendor.enabling_flag: True for vendor in vendors() if vendor.enabling_flag}


def rows() -> list[dict[str, Any]]:
    """Return one row a backend, keys ascending."""
    found = deviceconfig.load(CONFIG.read_text(encoding="utf-8"), all_enabled())
    return [
        {
            "key": key,
            "vendor": found.titles[key],
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
