"""Compares what functions return; a recorded text may have several shapes that mean the same."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_app.conformance.compare import difference
from scheduler_app.conformance.surface.canonical import amount
from scheduler_app.core.float32 import f32

Json = dict[str, Any]
Pair = tuple[Any, Any]
LARGEST = 2**63 - 1


def call_differs(step: Json, expected: Json, actual: Json) -> str | None:
    """Compare two results, or that both are errors."""
    if step["fn"] == "load_config":
        return _load_differs(expected, actual)
    if "result" not in expected:
        return f"result: expected {sorted(expected)}"
    left, right = expected["result"], actual["result"]
    if "error" in left or "error" in right:
        return difference("error" in left, "error" in right, f"error ({right.get('error', 'none')})")
    shape = _SHAPES.get(step["fn"])
    left, right = shape(step["args"], left, right) if shape else (left, right)
    return difference(left, right, "result")


def _load_differs(expected: Json, actual: Json) -> str | None:
    """A refused configuration is refused; where the recording has a text, ours says it too."""
    left, right = expected["result"], actual["result"]
    words = left.get("init_error") or left.get("abort")
    if not words and "load_error" not in left:
        return difference(left, right, "result")
    if "error" not in right:
        return f"result: expected an error, got {sorted(right)}"
    said = str(words or "").rpartition(": ")[2]
    return None if said in right["error"] else f"error: expected {said!r} in it, got {right['error']!r}"


def _quantity(args: Json, left: Json, right: Json) -> Pair:
    """The canonical text stands for its unit; a rounded reading beyond 64 bits means nothing."""
    left, right = dict(left), dict(right)
    canonical = left.pop("canonical")
    value = amount(canonical)
    assert value is not None  # noqa: S101  (the recording's own text)
    left["has_unit"] = any(char.isalpha() for char in canonical)
    meant = amount(args["text"]) or value
    if meant != meant.to_integral_value() or abs(meant) > LARGEST:
        right["has_unit"] = left["has_unit"]
    if abs(meant) > LARGEST:
        right["value_rounded_up"] = left["value_rounded_up"]
    return left, right


def _weights(args: Json, left: Json, right: Json) -> Pair:
    return {name: f32(float(value)) for name, value in left.items()}, right


def _nodes(args: Json, left: Json, right: Json) -> Pair:
    """Nodes of equal score come in any order, and any of the best may win; ours is the first (Q-33)."""
    scores = {node["name"]: float(node["score"]) for node in args["nodes"]}
    best = scores[left["winner"]]
    equal = sorted(name for name, score in scores.items() if score == best)
    wanted = {"order": [scores[name] for name in left["order"]], "winner": equal[0]}
    return wanted, {"order": [scores[name] for name in right["order"]], "winner": right["winner"]}


def _score(args: Json, left: Json, right: Json) -> Pair:
    return {name: value for name, value in left.items() if name != "repr"}, right


def _scores(args: Json, left: Json, right: Json) -> Pair:
    """Of several entries of one card the first counts; an entry without card or scores says nothing."""
    found: Json = {}
    for item in left["scores"] or ():
        found.setdefault(item.get("uuid", ""), item.get("score") or {})
    ours = right["scores"]
    return {card: s for card, s in found.items() if card and s}, {
        card: s for card, s in ours.items() if card and s
    }


def _lists(args: Json, left: Json, right: Json) -> Pair:
    """Null and an empty list are the same answer."""
    return {name: value or [] for name, value in left.items()}, {
        name: value or [] for name, value in right.items()
    }


def _unread(args: Json, left: Json, right: Json) -> Pair:
    for side in (left, right):
        for device in side["devices"] or ():
            device["devicevendor"] = ""
    return _devices(args, left, right)


def _same_json(args: Json, left: Json, right: Json) -> Pair:
    return json.loads(left["text"]), json.loads(right["text"])


def _devices(args: Json, left: Json, right: Json) -> Pair:
    devices = [device_shape(device) for device in left["devices"] or ()]
    return {**left, "devices": devices}, {**right, "devices": right["devices"] or []}


def device_shape(device: Json) -> Json:
    """Leave out extras that say nothing, and the vendor in a text: a card is of the vendor that reads it."""
    profiles = [{**item, "placements": item["placements"] or []} for item in device.get("migProfiles") or ()]
    device = {**device, "migProfiles": profiles}
    found = {
        name: value for name, value in device.items() if value or name not in ("custominfo", "migProfiles")
    }
    scores = (found.pop("pair_score", None) or {}).get("score")
    return {**found, "pair_score": scores} if scores else found


_SHAPES: Mapping[str, Callable[[Json, Json, Json], Pair]] = {
    "quantity": _quantity,
    "weights": _weights,
    "sort_nodes": _nodes,
    "device_score": _score,
    "node_score": _score,
    "decode_pair_scores": _scores,
    "mig_allocations": _lists,
    "decode_node_csv": _devices,
    "decode_node_json": _unread,
    "encode_node_json": _same_json,
    "node_devices": _devices,
}
