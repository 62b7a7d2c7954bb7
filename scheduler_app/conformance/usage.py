"""The accounting in the form of the recorded ``expect_usage``."""

from typing import Any

import orjson

from scheduler_app.core.types import CardUsage
from scheduler_app.engine.cache import ClusterState

Json = dict[str, Any]


def usage(state: ClusterState) -> Json:
    """Return cards by node and quotas by namespace; cards ordered by their JSON text."""
    nodes = {name: ordered([_card(card) for card in node.cards]) for name, node in state.everything().items()}
    quotas = {
        namespace: {
            resource: {"used": entry.used, "limit": entry.limit or 0, "limit_set": entry.limit is not None}
            for resource, entry in quota.entries.items()
        }
        for namespace, quota in state.quotas().items()
    }
    return {"nodes": nodes, "quotas": quotas}


def normalized(expected: Json) -> Json:
    """Return a recorded accounting with its cards in our order."""
    nodes = {name: ordered(cards) for name, cards in expected["nodes"].items()}
    return {**expected, "nodes": nodes}


def ordered(cards: list[Json]) -> list[Json]:
    return sorted(cards, key=lambda card: orjson.dumps(card, option=orjson.OPT_SORT_KEYS))


def _card(usage: CardUsage) -> Json:
    card = usage.card
    shown: Json = {
        "id": card.id,
        "used": usage.shares_used,
        "usedmem": usage.mem_used_mib,
        "usedcores": usage.cores_used,
        "count": card.shares,
        "totalmem": card.mem_mib,
        "totalcore": card.cores,
        "health": usage.healthy,
    }
    if usage.slices:
        instances = (f"{s.profile}@{s.placement.start}+{s.placement.size}" for s in usage.slices)
        shown["mig"] = sorted(instances)
    return shown
