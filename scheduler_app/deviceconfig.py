"""The device configuration: YAML to the vendors' own dataclasses, and those to backends (CFG-5 to 7, DCF)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from scheduler_app import yamlfields
from scheduler_app.core.backend import DeviceBackend, Vendor
from scheduler_app.core.errors import NothingConfiguredError
from scheduler_app.core.types import VendorKey
from scheduler_app.devices import vendors
from scheduler_app.yamlfields import FieldReader, UnknownKey

EMPTY = "all configurations are empty"


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """What a configuration says: backends in order of creation, and what nobody reads.

    ``titles`` are the vendors' names for people by backend key.
    """

    order: tuple[DeviceBackend, ...]
    titles: Mapping[VendorKey, str]
    unknown: tuple[UnknownKey, ...] = ()

    @property
    def backends(self) -> Mapping[VendorKey, DeviceBackend]:
        """Backends by key, ascending; of equal keys the later one holds (DCF-16)."""
        found = {backend.vendor_key: backend for backend in self.order}
        return dict(sorted(found.items()))


def load(text: str, flags: Mapping[str, Any]) -> DeviceConfig:
    """Build the backends that a device configuration describes; ``flags`` by their names with dashes.

    Raises:
        NothingConfiguredError: nothing is set at all.
        ConfigError: not YAML, or a wrong type (with key, line and expected type).
    """
    reader = FieldReader()
    sections = _sections(text, reader)
    if not any(_is_set(vendor, sections.get(vendor.config_key)) for vendor in vendors()):
        raise NothingConfiguredError(EMPTY)
    order: list[DeviceBackend] = []
    titles: dict[VendorKey, str] = {}
    for vendor in vendors():
        if vendor.enabling_flag and not flags.get(vendor.enabling_flag):
            continue
        built = vendor.build(sections.get(vendor.config_key, _zero(vendor)))
        order.extend(built)
        titles.update((backend.vendor_key, vendor.title) for backend in built)
    return DeviceConfig(tuple(order), titles, tuple(reader.unknown))


def _sections(text: str, reader: FieldReader) -> dict[str, Any]:
    """Read every section; one that is repeated is merged, and cleared by a null (DCF-4)."""
    root = yamlfields.compose(text)
    if root is None or yamlfields.is_null(root):
        return {}
    by_key = {vendor.config_key: vendor for vendor in vendors()}
    found: dict[str, Any] = {}
    for key, node in yamlfields.entries(root, "the file"):
        vendor = by_key.get(key)
        if vendor is None:
            reader.unknown.append(UnknownKey(key, yamlfields.line_of(node), tuple(sorted(by_key))))
        elif yamlfields.is_null(node):
            found.pop(key, None)
        else:
            found[key] = _section(vendor, node, reader, found.get(key))
    return found


def _section(vendor: Vendor, node: yaml.Node, reader: FieldReader, base: Any) -> Any:
    if vendor.is_list:
        return reader.value(tuple[vendor.config, ...], node, vendor.config_key)  # type: ignore[name-defined]  # made at run time
    return reader.record(vendor.config, node, vendor.config_key, base)


def _zero(vendor: Vendor) -> Any:
    return () if vendor.is_list else vendor.config()


def _is_set(vendor: Vendor, section: Any) -> bool:
    """Say whether a section counts as configured: an element, or a value that is not zero (DCF-12)."""
    if section is None:
        return False
    return vendor.is_configured(section) if vendor.is_configured else section != _zero(vendor)
