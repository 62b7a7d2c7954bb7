"""Compares what the door answers: status, headers, body, and what was written and reported meanwhile."""

import json
import re
from typing import Any

from scheduler_app.conformance.compare import difference
from scheduler_app.conformance.surface import reviews

Json = dict[str, Any]
PARSER = re.compile(
    r"^(EOF|unexpected E|json: |invalid character|strconv\.|parsing time|time: |quantities|unable to parse)"
)
"""Texts of the reference's parsers: only their presence matters (its README)."""
GUESSED = "text/plain; charset=utf-8"


def answer_differs(step: Json, expected: Json, actual: Json) -> str | None:
    """Compare two answers of one request."""
    for name in ("no_response_within_ms", "connection_closed"):
        if name in expected:
            return difference(expected, {}, "answer")
    return (
        difference(expected["status"], actual["status"], "status")
        or _headers_differ(expected["headers"], actual["headers"])
        or _content_differs(step, expected, actual)
        or difference(_writes(expected), _writes(actual), "writes")
        or events_differ(expected.get("events", []), actual.get("events", []))
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
    return {**{n: value for n, value in body.items() if n not in ("kind", "apiVersion")}, "target": target}


def _headers_differ(expected: Json, actual: Json) -> str | None:
    """Ours may say JSON where the reference lets the server guess (rule 7)."""
    left, right = dict(expected), dict(actual)
    if right.get("content-type") == "application/json" and left.get("content-type") == GUESSED:
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


def events_differ(expected: list[Json], actual: list[Json]) -> str | None:
    """The events of one request come in any order, but the last one is the last."""
    left, right = (
        sorted(json.dumps(event, sort_keys=True) for event in found) for found in (expected, actual)
    )
    return difference(left, right, "events") or (
        difference(expected[-1], actual[-1], "last event") if expected else None
    )
