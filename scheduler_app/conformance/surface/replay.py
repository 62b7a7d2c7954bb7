"""One surface case: run it, compare with each accepted list of results, tell the first difference."""

from typing import Any

from scheduler_app.conformance.cases import Case
from scheduler_app.conformance.mismatch import Mismatch
from scheduler_app.conformance.scope import Scope
from scheduler_app.conformance.surface import fixes
from scheduler_app.conformance.surface.results import step_differs
from scheduler_app.conformance.surface.stage import Stage

Json = dict[str, Any]


def replay(case: Case, scope: Scope) -> None:
    """Run one case.

    Raises:
        Mismatch: at the first difference from every accepted list of results.
    """
    stage = Stage(case, scope)
    results = stage.run()
    options = case.raw.get("accept") or [case.raw["expect"]]
    problems = [_differs(stage, option, results) for option in options]
    if all(problems):
        more = f" (and {len(problems) - 1} other outcomes)" if len(problems) > 1 else ""
        raise Mismatch(f"{problems[0]}{more}")


def _differs(stage: Stage, expected: list[Json], results: list[Json]) -> str | None:
    steps = stage.raw["steps"]
    for number, (step, left, right) in enumerate(zip(steps, expected, results, strict=True)):
        if step["op"] == "call":
            left = fixes.never_wrapped(step, left, right, stage.world.backends)
        found = step_differs(step, left, right)
        if found:
            name = step.get("fn") or step.get("path") or ""
            return f"step {number} {step['op']} {name}".rstrip() + f": {found}"
    return None
