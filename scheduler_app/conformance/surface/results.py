"""Compares the results of a surface case's steps with the recorded ones."""

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_app.conformance.compare import difference
from scheduler_app.conformance.surface import outside, scrapes
from scheduler_app.conformance.surface.answers import answer_differs, events_differ
from scheduler_app.conformance.surface.shapes import call_differs, device_shape

Json = dict[str, Any]
Compare = Callable[[Json, Json, Json], str | None]


def step_differs(step: Json, expected: Json, actual: Json) -> str | None:
    """Return the first difference of one step's result, or None."""
    return _COMPARE[step["op"]](step, expected, actual)


def _plain(step: Json, expected: Json, actual: Json) -> str | None:
    return difference(expected, actual)


def _quiet_or(compare: Compare) -> Compare:
    def judge(step: Json, expected: Json, actual: Json) -> str | None:
        return None if step.get("quiet") else compare(step, expected, actual)

    return judge


def _pass(step: Json, expected: Json, actual: Json) -> str | None:
    left, right = (outside.merged(found.get("writes", [])) for found in (expected, actual))
    return difference(left, right, "writes") or events_differ(
        expected.get("events", []), actual.get("events", [])
    )


def _snapshot(step: Json, expected: Json, actual: Json) -> str | None:
    left, right = dict(expected), dict(actual)
    if "cache" in left:
        left["cache"] = {
            node: {
                vendor: [device_shape(device) for device in devices] for vendor, devices in vendors.items()
            }
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


_COMPARE: Mapping[str, Compare] = {
    "call": call_differs,
    "http": _quiet_or(answer_differs),
    "pass": _quiet_or(_pass),
    "apply": _plain,
    "delete": _plain,
    "faults": _plain,
    "wait": _plain,
    "leader": _plain,
    "snapshot": _snapshot,
    "metrics": _metrics,
}
