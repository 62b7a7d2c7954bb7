"""The node annotation in which Enflame says what cards can be sliced, and into what (ENF-3)."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scheduler_app.core import codec, quantity
from scheduler_app.core import text as texts
from scheduler_app.core.backend import WHOLE_CARD_CORES
from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from scheduler_app.core.types import Card, CardId, Node, VendorKey
from scheduler_app.devices.enflame import profiles

REGISTER = "enflame.com/gcu-drs-capacity"
INDEX = "index"
MINOR = "minor"
CAPACITY = "capacity"


def read(node: Node, *, vendor: VendorKey) -> tuple[Card, ...]:
    """Return the cards, at least one.

    The text is ``{"devices":[{"index":"0","minor":"0","capacity":6}],"profiles":{"1g.6gb":"0"}}``.

    Raises:
        EmptyRegistrationError: the list of cards is empty.
        CodecError: there is no annotation, or it cannot be read, or it lacks profiles or a card's capacity.
    """
    text = node.annotations.get(REGISTER)
    if text is None:
        raise CodecError(f"annotation not found {REGISTER}")
    try:
        devices, kinds = _parsed(text)
    except CodecError as exc:
        raise CodecError(f"failed to parse {REGISTER}: {exc}") from exc
    sizes = [profiles.parse(name) for name in kinds]
    max_slice = max((size for size, _ in sizes), default=0)
    if max_slice <= 0:
        raise CodecError(f"no valid drs profiles found on node {node.name}")
    max_gb = max(gb for _, gb in sizes)
    mem_mib = (max_gb if max_gb > 0 else max_slice) * profiles.MIB_A_GB
    if mem_mib > quantity.INT32_MAX:
        raise CodecError(f"failed to parse {REGISTER}: a profile of {mem_mib} MiB is out of range")
    if not devices:
        raise EmptyRegistrationError(f"no drs devices found on node {node.name}")
    custom = {profiles.PROFILES: kinds, profiles.MAX_SLICE: max_slice}
    return tuple(
        _card(Card(CardId(""), vendor, vendor, place, mem_mib=mem_mib, custom=custom), members, node)
        for place, members in enumerate(devices)
    )


def _parsed(text: str) -> tuple[list[dict[str, Any]], Mapping[str, str]]:
    """Return the devices' members, and profile ids by name."""
    data = codec.load_json(text)
    members = codec.fold({} if data is None else data, "annotation")
    listed, kinds = members.get("devices", []), members.get("profiles", {})
    if not isinstance(listed, list) or not isinstance(kinds, dict):
        raise CodecError("expected devices to be an array and profiles to be an object")
    devices = [codec.fold({} if item is None else item, f"devices[{n}]") for n, item in enumerate(listed)]
    for place, device in enumerate(devices):
        for name in (INDEX, MINOR):
            codec.member(device, name, str, f"devices[{place}]")
    given = {name: "" if value is None else value for name, value in kinds.items()}
    return devices, {name: codec.member(given, name, str, "profiles") for name in given}


def _card(blank: Card, members: Mapping[str, Any], node: Node) -> Card:
    """Complete a card; ``blank`` has its place in the list as index, for where it names none."""
    try:
        index = texts.integer(members.get(INDEX, ""))
    except ValueError:
        index = blank.index
    shares = _capacity(members.get(CAPACITY))
    if shares <= 0:
        raise CodecError(f"invalid drs capacity on node {node.name}")
    minor = members.get(MINOR, "").strip() or str(index)
    return replace(
        blank,
        id=CardId(f"{node.name}-enflame-drs-{index}"),
        index=index,
        shares=shares,
        cores=WHOLE_CARD_CORES,
        custom={MINOR: minor, INDEX: str(index), **blank.custom},
    )


def _capacity(value: object) -> int:
    """Return the number of slices, a number or a text; 0 for anything else (ENF-E13)."""
    if isinstance(value, str):
        try:
            return min(texts.integer(value.strip()), quantity.INT32_MAX)
        except ValueError:
            return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return int(value) if int(value) <= quantity.INT32_MAX else 0
