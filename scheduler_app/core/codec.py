"""Annotation text to types and back: node registrations (P-4 to P-7) and pod device text (P-8 to P-10)."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from scheduler_app.core import text as texts
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import (
    NOTHING,
    Allocation,
    Card,
    CardId,
    Containers,
    Placement,
    SliceProfile,
    VendorKey,
)

T = TypeVar("T", str, bool)
_KINDS: Mapping[type, str] = {str: "a text", bool: "true or false"}
HAMI_CORE = "hami-core"
_MARKUP = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})
MISSING_FIELDS = "pod annotation format error, missing fields, do not use nodeName in task spec"


def encode_devices(containers: Iterable[Iterable[Allocation]]) -> str:
    """Return ``"<uuid>,<type>,<mem>,<cores>:;"``: ``:`` after a device, ``;`` after a container (P-8)."""
    return "".join(
        "".join(f"{a.card},{a.type},{a.mem_mib},{a.cores}:" for a in container) + ";"
        for container in containers
    )


def decode_devices(text: str) -> Containers:
    """Read a pod device text; the trailing ``;`` yields one empty container at the end (P-10)."""
    return tuple(_container(part) for part in text.split(";"))


def _container(part: str) -> tuple[Allocation, ...]:
    return tuple(_device(piece.split(",")) for piece in part.split(":") if "," in piece)


def _device(fields: list[str]) -> Allocation:
    if len(fields) < 4:
        raise CodecError(MISSING_FIELDS)
    return Allocation(
        CardId(fields[0]), fields[1], _number("memory", fields[2]), _number("core", fields[3]), shares=0
    )


def _number(what: str, text: str, *, parser: str = "strconv.ParseInt", bits: int = 32) -> int:
    try:
        return texts.integer(text, bits=bits)
    except ValueError as exc:
        raise CodecError(f"invalid {what} field: {parser}: {exc}") from exc


def decode_csv(text: str, vendor: VendorKey) -> tuple[Card, ...]:
    """Read ``"<id>,<count>,<devmem>,<devcore>,<type>,<numa>,<health>[,<index>,<mode>]:"`` (P-6, VB-20)."""
    if ":" not in text:
        raise CodecError("node annotation missing device separator")
    return tuple(_segment(segment, vendor) for segment in text.split(":") if segment)


def _segment(segment: str, vendor: VendorKey) -> Card:
    if "," not in segment:
        raise CodecError(f"malformed node annotation segment: {texts.quote(segment)}")
    fields = segment.split(",")
    if len(fields) not in (7, 9):
        raise CodecError(f"unexpected field count {len(fields)} in node annotation")
    shares, mem, cores = (_number(w, fields[i]) for w, i in (("count", 1), ("memory", 2), ("core", 3)))
    healthy = texts.boolean(fields[6])
    if healthy is None:
        raise CodecError(
            f"invalid health field: strconv.ParseBool: parsing {texts.quote(fields[6])}: invalid syntax"
        )
    numa = _number("numa", fields[5], parser="strconv.Atoi", bits=64)
    index, mode = _index_and_mode(fields)
    return Card(CardId(fields[0]), vendor, fields[4], index, shares, mem, cores, numa, mode, healthy)


def _index_and_mode(fields: list[str]) -> tuple[int, str]:
    if len(fields) == 7:
        return 0, HAMI_CORE
    index = _number("index", fields[7], parser="strconv.Atoi", bits=64)
    if index < 0:
        raise CodecError(f"index field must not be negative: {index}")
    return index, fields[8]


def encode_csv(cards: Iterable[Card]) -> str:
    """Return the nine-field form, a ``:`` after every card."""
    return "".join(
        f"{c.id},{c.shares},{c.mem_mib},{c.cores},{c.type},{c.numa},{str(c.healthy).lower()},{c.index},{c.mode}:"
        for c in cards
    )


def load_json(text: str) -> Any:
    """Parse JSON; numbers that are not finite are refused, however they are written.

    Halves of characters become U+FFFD as for every peer, so that every text can be written out again.

    Raises:
        CodecError: it is not JSON.
    """
    try:
        found = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
        return without_halves(found) if may_have_halves(text) else found
    except (ValueError, RecursionError) as exc:
        raise CodecError(f"not JSON: {exc}") from exc


def compact_json(value: Any) -> str:
    """Return JSON without blanks as the reference writes it: what could be markup is escaped (ASC-60)."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).translate(_MARKUP)


def may_have_halves(text: str) -> bool:
    """Say whether JSON may spell halves of surrogate pairs."""
    return "\\ud" in text.lower()


def without_halves(value: Any) -> Any:
    """Return parsed JSON without halves of surrogate pairs."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [without_halves(item) for item in value]
    if isinstance(value, dict):
        return {without_halves(key): without_halves(item) for key, item in value.items()}
    return value


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")


def _finite(word: str) -> float:
    value = float(word)
    if math.isinf(value):
        raise ValueError(f"{word} is out of range")
    return value


def decode_json(text: str, vendor: VendorKey) -> tuple[Card, ...]:
    """Read the JSON register form (P-4): member names in any case, absent members zero, ``health`` false.

    ``null`` is an empty list; a ``null`` element is malformed (Q-50).
    """
    data = load_json(text)
    if data is None:
        return ()
    if not isinstance(data, list):
        raise CodecError("expected an array of devices")
    return tuple(_json_card(item, vendor, position) for position, item in enumerate(data))


def _json_card(item: Any, vendor: VendorKey, position: int) -> Card:
    at = f"[{position}]"
    members = fold(item, at)
    _list(members.get("migtemplate"), f"{at}.migtemplate")  # an old member: unused, but it has a shape
    return Card(
        id=CardId(member(members, "id", str, at)),
        vendor=vendor,
        type=member(members, "type", str, at),
        index=whole(members, "index", at, low=0, high=2**64 - 1),
        shares=whole(members, "count", at),
        mem_mib=whole(members, "devmem", at),
        cores=whole(members, "devcore", at),
        numa=whole(members, "numa", at, low=-(2**63), high=2**63 - 1),
        mode=member(members, "mode", str, at),
        healthy=member(members, "health", bool, at),
        profiles=_profiles(members.get("migprofiles"), at),
        custom=_custom(members.get("custominfo"), at),
    )


def fold(item: Any, at: str) -> dict[str, Any]:
    """Return an object's members under lower-case names, the last spelling winning; nulls count as absent."""
    if not isinstance(item, dict):
        raise CodecError(f"{at}: expected an object")
    return {key.lower(): value for key, value in item.items() if value is not None}


def fold_or_empty(item: Any, at: str) -> dict[str, Any]:
    """Return an object's members as ``fold`` does; ``null`` in a list is an object without members."""
    return {} if item is None else fold(item, at)


def member(members: Mapping[str, Any], name: str, kind: type[T], at: str) -> T:
    """Return a text or a boolean, empty or false when absent."""
    value = members.get(name, kind())
    if not isinstance(value, kind):
        raise CodecError(f"{at}.{name}: expected {_KINDS[kind]}")
    return value


def whole(
    members: Mapping[str, Any], name: str, at: str, *, low: int = -(2**31), high: int = 2**31 - 1
) -> int:
    """Return an integer in range, 0 when absent; fractions and exponents are errors as in the reference."""
    value = members.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise CodecError(f"{at}.{name}: expected a whole number")
    if not low <= value <= high:
        raise CodecError(f"{at}.{name}: {value} is out of range")
    return value


def _list(value: Any, at: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise CodecError(f"{at}: expected an array")
    return value


def _profiles(value: Any, at: str) -> tuple[SliceProfile, ...]:
    at = f"{at}.migProfiles"
    return tuple(_profile(item, f"{at}[{n}]") for n, item in enumerate(_list(value, at)))


def _profile(item: Any, at: str) -> SliceProfile:
    members = fold_or_empty(item, at)
    places = _list(members.get("placements"), f"{at}.placements")
    return SliceProfile(
        member(members, "name", str, at),
        whole(members, "memorymb", at),
        whole(members, "core", at),
        whole(members, "slicecount", at, low=0, high=2**32 - 1),
        tuple(placement(place, f"{at}.placements[{n}]") for n, place in enumerate(places)),
    )


def placement(item: Any, at: str) -> Placement:
    """Read ``{"start":n,"size":n}``, both unsigned 32-bit."""
    members = fold_or_empty(item, at)
    start, size = (whole(members, name, at, low=0, high=2**32 - 1) for name in ("start", "size"))
    return Placement(start, size)


def _custom(value: Any, at: str) -> Mapping[str, Any]:
    if value is None:
        return NOTHING
    if not isinstance(value, dict):
        raise CodecError(f"{at}.custominfo: expected an object")
    return value


def encode_json(cards: Iterable[Card]) -> str:
    """Return the JSON register form as a node plugin writes it: zero values and ``custominfo`` left out."""
    return compact_json([_card_members(card) for card in cards])


def _card_members(card: Card) -> dict[str, Any]:
    members: dict[str, Any] = {
        "id": card.id,
        "index": card.index,
        "count": card.shares,
        "devmem": card.mem_mib,
        "devcore": card.cores,
        "type": card.type,
        "numa": card.numa,
        "mode": card.mode,
        "migProfiles": [_profile_members(profile) for profile in card.profiles],
        "health": card.healthy,
    }
    return {name: value for name, value in members.items() if value}


def _profile_members(profile: SliceProfile) -> dict[str, Any]:
    places = [{"start": p.start, "size": p.size} for p in profile.placements]
    return {
        "name": profile.name,
        "memoryMB": profile.mem_mib,
        "core": profile.cores,
        "sliceCount": profile.slices,
        "placements": places or None,
    }
