"""Texts of nodes and pods: registrations, device texts, locks, and what is counted of them."""

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from scheduler_app import devices
from scheduler_app.core import accounting, codec
from scheduler_app.core.errors import CodecError, HamiError
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import (
    Allocation,
    Card,
    CardId,
    Container,
    Devices,
    Placement,
    Pod,
    PodUid,
    SliceProfile,
    VendorKey,
)
from scheduler_app.kube import decode, locktext

Json = dict[str, Any]
NOBODY = VendorKey("")


def node_csv(args: Json) -> Json:
    return _cards(lambda: codec.decode_csv(args["text"], NOBODY))


def node_json(args: Json) -> Json:
    return _cards(lambda: codec.decode_json(args["text"], NOBODY))


def node_devices(args: Json, backends: Backends) -> Json:
    node = decode.decode_node(args["node"])
    return _cards(lambda: backends[VendorKey(args["vendor"])].node_cards(node))


def node_csv_text(args: Json) -> Json:
    return {"text": codec.encode_csv([card_of(device) for device in args["devices"]])}


def node_json_text(args: Json) -> Json:
    return {"text": codec.encode_json([card_of(device) for device in args["devices"]])}


def pod_devices(args: Json, backends: Backends) -> Json:
    """Read a pod's device annotations; what was read before an error is dropped, as both readers do (M-9)."""
    given = args["annotations"]
    try:
        found = {
            key: codec.decode_devices(given[backend.keys.allocated])
            for key, backend in backends.items()
            if backend.keys.allocated in given
        }
    except CodecError as exc:
        return {"error": str(exc)}
    return {"devices": devices_shown(found)}


def pod_annotations(args: Json, backends: Backends) -> Json:
    given = devices_of(args["devices"])
    texts = {backends[key].keys.allocated: codec.encode_devices(held) for key, held in given.items()}
    return {"annotations": texts}


def counted(how: Callable[[Pod, Devices], Devices]) -> Callable[[Json], Json]:
    def count(args: Json) -> Json:
        pod = Pod(
            "default",
            "pod",
            PodUid("uid"),
            containers=(Container(),) * args["containers"],
            init_containers=(Container(),) * args["init_containers"],
        )
        return {"devices": devices_shown(how(pod, devices_of(args["devices"])))}

    return count


collapse = counted(accounting.collapse)
app_only = counted(accounting.app_only)


def reservations(args: Json) -> Json:
    try:
        found = _codec("reservations", "decode")(args["text"])
    except CodecError as exc:
        return {"error": str(exc)}
    return {"allocations": [_reservation(item) for item in found] or None}


def pair_scores(args: Json) -> Json:
    try:
        found = _codec("topology", "decode_scores")(args["text"])
    except CodecError as exc:
        return {"error": str(exc)}
    return {"scores": {card: dict(scores) for card, scores in found.items()}}


def node_lock(args: Json) -> Json:
    try:
        lock = locktext.parse_lock(args["text"])
    except HamiError as exc:
        return {"error": str(exc)}
    return {"name": lock.name, "namespace": lock.namespace, "unix": int(lock.time.timestamp())}


@cache
def _codec(module: str, function: str) -> Callable[..., Any]:
    """Return the function of the one vendor that has a module of that name with it."""
    prefix = f"{devices.__name__}."
    names = [found.name for found in pkgutil.walk_packages(devices.__path__, prefix)]
    loaded = [import_module(name) for name in names if name.endswith(f".{module}")]
    found: Callable[..., Any] = next(vars(each)[function] for each in loaded if function in vars(each))
    return found


# Shapes


def _cards(read: Callable[[], Iterable[Card]]) -> Json:
    try:
        return {"devices": [card_shown(card) for card in read()]}
    except CodecError as exc:
        return {"error": str(exc)}


def card_shown(card: Card) -> Json:
    """Return a card in the form of the recording; empty extras are left out."""
    found: Json = {
        "id": card.id,
        "index": card.index,
        "count": card.shares,
        "devmem": card.mem_mib,
        "devcore": card.cores,
        "type": card.type,
        "numa": card.numa,
        "mode": card.mode,
        "health": card.healthy,
        "devicevendor": card.vendor,
    }
    extras = {
        "custominfo": dict(card.custom),
        "migProfiles": [_profile_shown(profile) for profile in card.profiles],
        "pair_score": dict(card.link_scores),
    }
    return found | {name: value for name, value in extras.items() if value}


def _profile_shown(profile: SliceProfile) -> Json:
    return {
        "name": profile.name,
        "memoryMB": profile.mem_mib,
        "core": profile.cores,
        "sliceCount": profile.slices,
        "placements": [{"start": place.start, "size": place.size} for place in profile.placements],
    }


def card_of(device: Mapping[str, Any]) -> Card:
    profiles = (
        SliceProfile(
            item["name"],
            item["memoryMB"],
            item["core"],
            item["sliceCount"],
            tuple(Placement(place["start"], place["size"]) for place in item["placements"] or ()),
        )
        for item in device.get("migProfiles") or ()
    )
    return Card(
        CardId(device["id"]),
        VendorKey(device.get("devicevendor", "")),
        device["type"],
        device["index"],
        device["count"],
        device["devmem"],
        device["devcore"],
        device["numa"],
        device["mode"],
        device["health"],
        tuple(profiles),
        device.get("custominfo") or {},
    )


def devices_of(given: Mapping[str, Any]) -> Devices:
    return {
        VendorKey(vendor): tuple(tuple(_allocation(item) for item in container) for container in containers)
        for vendor, containers in given.items()
    }


def _allocation(item: Mapping[str, Any]) -> Allocation:
    return Allocation(CardId(item["uuid"]), item["type"], item["usedmem"], item["usedcores"])


def devices_shown(given: Devices) -> Json:
    return {vendor: [_containers_shown(held) for held in containers] for vendor, containers in given.items()}


def _containers_shown(held: Iterable[Allocation]) -> list[Json]:
    return [
        {
            "uuid": item.card,
            "type": item.type,
            "usedmem": item.mem_mib,
            "usedcores": item.cores,
            "slots": item.shares,
            "idx": item.index,
        }
        for item in held
    ]


def _reservation(item: Any) -> Json:
    instance = item.instance
    place = {"start": instance.placement.start, "size": instance.placement.size}
    found: Json = {
        "containerIndex": item.container,
        "deviceIndex": item.device,
        "gpuUUID": item.card,
        "profile": instance.profile,
        "placement": place,
    }
    extras = {
        "migUUID": instance.instance_uuid or None,
        "gpuInstanceID": instance.gpu_instance_id,
        "computeInstanceID": instance.compute_instance_id,
    }
    return found | {name: value for name, value in extras.items() if value is not None}
