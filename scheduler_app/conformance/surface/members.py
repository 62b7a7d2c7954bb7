"""Everything that a recorded case may state; what is not here nobody compares, and fails (rule 1)."""

from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STEP: Mapping[str, frozenset[str]] = {
    "call": _set("fn args"),
    "http": _set("method path headers body body_text body_parts timeout_ms quiet"),
    "pass": _set("quiet"),
    "apply": _set("object"),
    "delete": _set("kind namespace name"),
    "faults": _set("faults"),
    "wait": _set("ms"),
    "leader": frozenset(),
    "snapshot": _set("what"),
    "metrics": _set("method path"),
}
RESULT: Mapping[str, frozenset[str]] = {
    "call": _set("result crash"),
    "http": _set(
        "status headers body_text body_json trailing_newline connection_closed no_response_within_ms"
        " review patch object_after writes events"
    ),
    "pass": _set("writes events crash"),
    "apply": _set("pass_requested"),
    "delete": _set("pass_requested error"),
    "faults": frozenset(),
    "wait": frozenset(),
    "leader": _set("is_leader synced"),
    "snapshot": _set("cache usage quota pods api_nodes api_pods synced"),
    "metrics": _set("status content_type text_sorted families samples first_line"),
}
ENTRY: Mapping[str, frozenset[str]] = {
    "writes": _set("verb resource subresource name namespace patch_type body failed"),
    "events": _set("verb type reason message namespace component reporting_component object count"),
    "samples": _set("name labels value"),
    "patch": _set("op path value from"),
}
"""Members of the entries of a result's lists."""
FAILED = _set("error devices load_error init_error abort")
"""Members of the result of a function that failed."""


def strange(step: Json, expected: Json) -> str | None:
    """Return the first member of a step or of its result that is unknown, or None."""
    operation = step["op"]
    names = [
        *(f"step.{name}" for name in step.keys() - STEP[operation] - {"op"}),
        *(f"result.{name}" for name in expected.keys() - RESULT[operation]),
        *_in_entries(expected),
        *_in_failure(expected.get("result")),
    ]
    return f"unknown member {min(names)}" if names else None


def _in_entries(expected: Json) -> Iterator[str]:
    for group, known in ENTRY.items():
        for entry in expected.get(group, ()):
            yield from (f"{group}.{name}" for name in set(entry) - known)


def _in_failure(result: Any) -> Iterator[str]:
    if isinstance(result, dict) and FAILED & result.keys() - {"devices"}:
        yield from (f"result.{name}" for name in result.keys() - FAILED)
