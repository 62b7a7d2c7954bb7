"""Compares the results of a surface case's steps with the recorded ones."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_app.conformance.compare import difference
from scheduler_app.conformance.surface import outside, reviews, scrapes
from scheduler_app.conformance.surface.canonical import amount
from scheduler_app.core.float32 import f32

Json = dict[str, Any]
PARSER = re.compile(
    r"^(EOF|unexpected E|json: |invalid character|strconv\.|parsing time|time: |quantities|unable to parse)"
)
"""Texts of the reference's parsers: only their presence matters (its README)."""
LARGEST = 2**63 - 1


def step_differs(step: Json, expected: Json, actual: Json) -> str | None:
    """Return the first difference of one step's result, or None."""
    return _COMPARE[step["op"]](step, expected, actual)


def _plain(step: Json, expected: Json, actual: Json) -> str | None:
    return difference(expected, actual)


def _quiet_or(compare: Callable[[Json, Json, Json], str | None]) -> Callable[[Json, Json, Json], str | None]:
    def judge(step: Json, expected: Json, actual: Json) -> str | None:
        return None if step.get("quiet") else compare(step, expected, actual)

    return judge


def _call(step: Json, expected: Json, actual: Json) -> str | None:
    left, right = expected["result"], actual["result"]
    if "error" in left or "error" in right:
        return difference("error" in left, "error" in right, f"error ({right.get('error', 'none')})")
    shape = _SHAPES.get(step["fn"])
    left, right = shape(step["args"], left, right) if shape else (left, right)
    return difference(left, right, "result")


Pair = tuple[Any, Any]


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
    return {name: left[name] for name in right if name in left}, right


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
    devices = [_device(device) for device in left["devices"] or ()]
    return {"devices": devices}, {"devices": right["devices"] or []}


def _device(device: Json) -> Json:
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


def _http(step: Json, expected: Json, actual: Json) -> str | None:
    for name in ("no_response_within_ms", "connection_closed"):
        if name in expected:
            return difference(expected, {}, "answer")
    return (
        difference(expected["status"], actual["status"], "status")
        or _headers_differ(expected["headers"], actual["headers"])
        or _content_differs(step, expected, actual)
        or difference(_writes(expected), _writes(actual), "writes")
        or _events_differ(expected.get("events", []), actual.get("events", []))
    )


def _writes(result: Json) -> list[Json]:
    """The path says what a Binding is; its kind may be in the body or not."""
    return [
        {**entry, "namespace": "", "body": _without_kind(entry["body"])}
        if entry.get("subresource") == "binding"
        else entry
        for entry in result.get("writes", ())
    ]


def _without_kind(body: Json) -> Json:
    target = {name: value for name, value in body["target"].items() if name != "apiVersion"}
    return {"metadata": body["metadata"], "target": target}


def _headers_differ(expected: Json, actual: Json) -> str | None:
    """Ours may say JSON where the reference lets the server guess (rule 7)."""
    left, right = dict(expected), dict(actual)
    if right.get("content-type") == "application/json":
        left["content-type"] = right["content-type"]
    return difference(left, right, "headers")


def _content_differs(step: Json, expected: Json, actual: Json) -> str | None:
    if "review" in expected:
        if "review" not in actual:
            return "review: expected one, got none"
        found = reviews.review_differs(expected["review"], actual["review"])
        if found or ("patch" not in expected and "object_after" not in expected):
            return found
        if "object_after" not in actual:
            return "object_after: expected one, got none"
        return reviews.object_differs(expected, actual["received"], actual["object_after"])
    if "body_json" in expected:
        left, right = expected["body_json"], actual.get("body_json")
        if right and PARSER.match(left.get("Error", "")) and right.get("Error"):
            left, right = {**left, "Error": "<parser>"}, {**right, "Error": "<parser>"}
        return _answers_differ(step, left, right)
    return difference(expected.get("body_text", ""), actual.get("body_text", ""), "body")


def _answers_differ(step: Json, expected: Json, actual: Any) -> str | None:
    """Nodes come back as they were sent; the reference drops what it does not know and adds empty members."""
    left, right = expected, actual
    if isinstance(right, dict) and left.get("Nodes") and right.get("Nodes"):
        sent = {_name(item): item for item in reversed(step["body"]["Nodes"]["items"])}
        items = right["Nodes"].get("items", [])
        strange = [_name(item) for item in items if item != sent.get(_name(item))]
        if strange:
            return f"body.Nodes: {strange[0]} is not as it was sent"
        names = [[_name(item) for item in answer["Nodes"]["items"]] for answer in (left, right)]
        left, right = ({**answer, "Nodes": found} for answer, found in zip((left, right), names, strict=True))
    return difference(left, right, "body")


def _name(item: Any) -> str:
    return str(((item or {}).get("metadata") or {}).get("name") or "")


def _events_differ(expected: list[Json], actual: list[Json]) -> str | None:
    """The events of one request come in any order, but the last one is the last."""
    left, right = (
        sorted(json.dumps(event, sort_keys=True) for event in found) for found in (expected, actual)
    )
    return difference(left, right, "events") or (
        difference(expected[-1], actual[-1], "last event") if expected else None
    )


def _pass(step: Json, expected: Json, actual: Json) -> str | None:
    left, right = (outside.merged(found.get("writes", [])) for found in (expected, actual))
    return difference(left, right, "writes") or _events_differ(
        expected.get("events", []), actual.get("events", [])
    )


def _snapshot(step: Json, expected: Json, actual: Json) -> str | None:
    left, right = dict(expected), dict(actual)
    if "cache" in left:
        left["cache"] = {
            node: {vendor: [_device(device) for device in devices] for vendor, devices in vendors.items()}
            for node, vendors in left["cache"].items()
        }
    return difference(left, right)


def _metrics(step: Json, expected: Json, actual: Json) -> str | None:
    if "first_line" in expected:
        left = {**expected}
        right = {
            "status": actual["status"],
            "content_type": actual["content_type"],
            "first_line": actual["text"].split("\n")[0],
        }
        return difference(left, right)
    for name in ("status", "content_type"):
        found = difference(expected[name], actual[name], name)
        if found:
            return found
    if "samples" not in expected:
        return None
    families = {item["name"]: item for item in expected["families"]}
    samples = sorted(
        (s["name"], repr(sorted(s["labels"].items())), float(s["value"])) for s in expected["samples"]
    )
    return difference(families, scrapes.families(actual["text"]), "families") or difference(
        samples, scrapes.samples(actual["text"]), "samples"
    )


_COMPARE: Mapping[str, Callable[[Json, Json, Json], str | None]] = {
    "call": lambda step, expected, actual: (
        _load_differs(expected, actual) if step["fn"] == "load_config" else _call(step, expected, actual)
    ),
    "http": _quiet_or(_http),
    "pass": _quiet_or(_pass),
    "apply": _plain,
    "delete": _plain,
    "faults": _plain,
    "wait": _plain,
    "leader": _plain,
    "snapshot": _snapshot,
    "metrics": _metrics,
}
