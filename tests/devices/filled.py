"""Vendor configurations in which every name is set, made from the fields of the vendor's own dataclass."""

import dataclasses
import types
import typing
from typing import Any

from scheduler_app.core.backend import DeviceBackend, Vendor


def build_filled(vendor: Vendor) -> list[DeviceBackend]:
    """Return the vendor's backends with a name for everything; lists have one element."""
    element = filled(vendor.config, vendor.name)
    return list(vendor.build((element,) if vendor.is_list else element))


def build_empty(vendor: Vendor) -> list[DeviceBackend]:
    """Return what comes of an absent section."""
    return list(vendor.build(() if vendor.is_list else vendor.config()))


def filled(config: type[Any], prefix: str) -> Any:
    hints = typing.get_type_hints(config)
    values = {field.name: _value(hints[field.name], f"{prefix}.io/{field.name}") for field in _fields(config)}
    return config(**values)


def _fields(config: type[Any]) -> list[dataclasses.Field[Any]]:
    """Leave out what has rules of its own: allowlists, and everything optional."""
    hints = typing.get_type_hints(config)
    return [
        field
        for field in dataclasses.fields(config)
        if "allowlist" not in field.name and typing.get_origin(hints[field.name]) is not types.UnionType
    ]


def _value(kind: Any, name: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return filled(typing.cast(type[Any], kind), name.partition(".")[0])
    if typing.get_origin(kind) is tuple:
        return (_value(typing.get_args(kind)[0], name),)
    return {str: name, int: 1, bool: False, float: 1.0}[kind]
