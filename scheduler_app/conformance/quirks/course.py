"""Which nodes a fix has led off the recorded path, and what must still hold of answers about them."""

import re
from collections.abc import Mapping
from typing import Any

from scheduler_app.conformance.quirks import held
from scheduler_app.conformance.usage import ordered
from scheduler_app.conformance.world import World
from scheduler_app.core import annotations

Json = dict[str, Any]
WORD = re.compile(r"^\d+/\d+ (.+)$")


class Course:
    """``nodes`` are in other use than recorded, ``namespaces`` have other quota use.

    ``is_open`` is set by a judge for one decision that a fix itself decides otherwise.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.nodes: set[str] = set()
        self.namespaces: set[str] = set()
        self.is_open = False

    def mark(self, *nodes: str | None, namespace: str = "") -> None:
        self.nodes.update(node for node in nodes if node)
        if namespace:
            self.namespaces.add(namespace)

    def affected(self, step: Json, pod: Json) -> set[str]:
        """Return the candidates about which the recording says nothing any more."""
        candidates = set(step.get("node_names") or ()) | set(step.get("nodes") or ())
        is_all = self.is_open or pod["metadata"]["namespace"] in self.namespaces
        return candidates if is_all else candidates & self.nodes

    def restated(self, expected: Json, actual: Json, *, step: Json, pod: Json) -> Json:
        """Return what must be answered, given our scores and refusals of the affected nodes and no others."""
        free = self.affected(step, pod)
        if "patch" not in expected or actual["error"]:
            return expected
        scores = _mixed(expected.get("scores"), actual["scores"], free)
        refused = _mixed(expected["failed_nodes"], actual["failed_nodes"], free)
        winner = self._winner(pod, scores)
        fresh = dict(expected)
        if winner is None:
            fresh.update(node_names=None, failed_nodes=refused, patch=_removals(actual["patch"]))
            fresh.update(labels=_removals(actual["labels"]), scores={}, events=_refusals(refused, step))
            return fresh
        fresh.update(
            node_names=[winner], failed_nodes=None, scores=scores, labels={annotations.ASSIGNED_NODE: winner}
        )
        fresh["events"] = [_success(winner, actual["scores"], scores, step)]
        if winner in free or expected["node_names"] != [winner]:
            fresh["patch"] = self._plausible(actual["patch"], winner)
        recorded = (expected["node_names"] or [None])[0]
        if fresh["patch"] != expected["patch"]:
            self.mark(winner, recorded, namespace=pod["metadata"]["namespace"])
        return fresh

    def usage(self, expected: Json) -> Json:
        """Return the accounting with what pods hold by their annotations, for marked nodes and namespaces."""
        if not self.nodes and not self.namespaces:
            return expected
        found = held.all_held(self._world.api.of("pods"), self._world.backends)
        nodes = {
            name: ordered([_card(name, card, found) for card in cards]) if name in self.nodes else cards
            for name, cards in expected["nodes"].items()
        }
        quotas = {
            name: {r: {**e, "used": found.quotas.get((name, r), 0)} for r, e in entries.items()}
            if name in self.namespaces
            else entries
            for name, entries in expected["quotas"].items()
        }
        return self.without_unused({**expected, "nodes": nodes, "quotas": quotas})

    def without_unused(self, accounting: Json) -> Json:
        """Leave out empty entries of marked namespaces: whether they are there hangs on history."""
        kept = {
            name: {r: e for r, e in entries.items() if e["used"] or e["limit_set"]}
            if name in self.namespaces
            else entries
            for name, entries in accounting["quotas"].items()
        }
        return {**accounting, "quotas": {name: entries for name, entries in kept.items() if entries}}

    def _winner(self, pod: Json, scores: Mapping[str, float]) -> str | None:
        given = pod["metadata"].get("annotations") or {}
        policy = given.get(annotations.NODE_POLICY, self._world.config.node_policy)
        sign = 1 if policy == "spread" else -1
        return min(scores, key=lambda name: (sign * scores[name], name), default=None)

    def _plausible(self, patch: Json, node: str) -> Json:
        """Return ``patch``, without the device texts that name cards the node does not have."""
        usage = next((u for n, u in self._world.state.everything().items() if n == node), None)
        cards = {str(card.id) for card in usage.cards} if usage else set()
        allocated = {backend.keys.allocated for backend in self._world.backends.values()}
        return {
            key: text
            for key, text in patch.items()
            if key not in allocated
            or all(card in cards for devices in held.containers_of(text or "") for card, _, _ in devices)
        }


def _mixed(recorded: Mapping[str, Any] | None, ours: Mapping[str, Any] | None, free: set[str]) -> Json:
    """Return the recorded members, ours for the nodes in ``free``."""
    kept = {name: value for name, value in (recorded or {}).items() if name not in free}
    return kept | {name: value for name, value in (ours or {}).items() if name in free}


def _removals(values: Json) -> Json:
    return {key: value for key, value in values.items() if value is None}


def _card(node: str, card: Json, found: held.Holdings) -> Json:
    amount = found.cards.get((node, card["id"]), held.Amount())
    fresh = {**card, "used": amount["used"], "usedmem": amount["usedmem"], "usedcores": amount["usedcores"]}
    fresh.pop("mig", None)
    instances = found.instances.get((node, card["id"]))
    return {**fresh, "mig": sorted(instances)} if instances else fresh


def _success(winner: str, ours: Mapping[str, float], scores: Mapping[str, float], step: Json) -> str:
    """Return the event's text, its nodes in the order in which we found them (F-42)."""
    listed = ",".join(f"{name}:{scores[name]:.2f}" for name in ours if name in scores)
    unfit = len(step["node_names"]) - len(scores)
    return (
        f"Normal FilteringSucceed find fit node({winner}), {unfit} nodes not fit, "
        f"{len(scores)} nodes fit({listed})"
    )


def _refusals(refused: Mapping[str, str], step: Json) -> list[str]:
    """Return the events of a refusal, sorted (F-34)."""
    nodes: dict[str, set[str]] = {}
    for name, text in refused.items():
        for part in text.split(", "):
            match = WORD.match(part)
            if match:
                nodes.setdefault(match.group(1), set()).add(name)
    told = [f"{len(names)} nodes {word}({','.join(sorted(names))})" for word, names in nodes.items()]
    told.append(f"no available node, {len(step['node_names'])} nodes do not meet")
    return sorted(f"Warning FilteringFailed {text}" for text in told)
