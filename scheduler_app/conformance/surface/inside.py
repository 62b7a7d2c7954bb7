"""The state in the form of the recorded snapshots."""

from collections.abc import Collection
from typing import Any

from scheduler_app.conformance.surface.texts import card_shown, devices_shown
from scheduler_app.conformance.world import World
from scheduler_app.core.types import CardUsage, Devices, NodeUsage

Json = dict[str, Any]
ALL = ("cache", "usage", "quota", "pods", "api")


def snapshot(world: World, what: Collection[str]) -> Json:
    found: Json = {"synced": world.leadership.is_synced}
    for name in what:
        found.update(_VIEWS[name](world))
    return found


def _cache(world: World) -> Json:
    return {"cache": {str(name): _vendors(usage) for name, usage in world.state.everything().items()}}


def _vendors(usage: NodeUsage) -> Json:
    found: Json = {}
    for card in usage.cards:
        found.setdefault(card.card.vendor, []).append(card_shown(card.card))
    return found


def _usage(world: World) -> Json:
    overview = world.state.overview
    return {"usage": {str(name): _by_id(usage) for name, usage in overview.items()}}


def _by_id(usage: NodeUsage) -> list[Json]:
    return sorted((_card(card) for card in usage.cards), key=lambda card: str(card["id"]))


def _card(usage: CardUsage) -> Json:
    card = usage.card
    slices = {"placements_in_use": len(usage.slices)} if usage.slices else {}
    return {
        **slices,
        "id": card.id,
        "index": card.index,
        "type": card.type,
        "mode": card.mode,
        "numa": card.numa,
        "health": usage.healthy,
        "count": card.shares,
        "totalmem": card.mem_mib,
        "totalcore": card.cores,
        "used": usage.shares_used,
        "usedmem": usage.mem_used_mib,
        "usedcores": usage.cores_used,
    }


def _quota(world: World) -> Json:
    quotas = {
        namespace: {
            resource: {"used": entry.used, "limit": entry.limit or 0, "limit_set": entry.limit is not None}
            for resource, entry in quota.entries.items()
        }
        for namespace, quota in world.state.quotas().items()
    }
    return {"quota": quotas}


def _pods(world: World) -> Json:
    pods = {
        str(entry.pod.uid): {
            "name": entry.pod.name,
            "namespace": entry.pod.namespace,
            "node": entry.node,
            "init_released": entry.pod.init_succeeded,
            "devices": _held(entry.devices),
        }
        for entry in world.state.pods()
    }
    return {"pods": pods}


def _held(devices: Devices) -> Json:
    """Return the devices without their positions on the node, which accounting does not keep."""
    shown = devices_shown(devices)
    for containers in shown.values():
        for held in containers:
            for item in held:
                del item["idx"]
    return shown


def _api(world: World) -> Json:
    nodes = {node["metadata"]["name"]: _marks(node) for node in world.api.of("nodes")}
    pods = {f"{p['metadata']['namespace']}/{p['metadata']['name']}": _marks(p) for p in world.api.of("pods")}
    return {"api_nodes": nodes, "api_pods": pods}


def _marks(item: Json) -> Json:
    meta = item["metadata"]
    return {"annotations": meta.get("annotations") or {}, "labels": meta.get("labels") or {}}


_VIEWS = {"cache": _cache, "usage": _usage, "quota": _quota, "pods": _pods, "api": _api}
