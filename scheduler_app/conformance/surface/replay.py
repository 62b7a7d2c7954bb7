"""One surface case: run its steps and hold each result against every list of results that is accepted."""

from dataclasses import dataclass
from typing import Any

from scheduler_app.conformance.cases import Case
from scheduler_app.conformance.mismatch import Mismatch
from scheduler_app.conformance.surface import members
from scheduler_app.conformance.surface.fixes import Fixes
from scheduler_app.conformance.surface.results import step_differs
from scheduler_app.conformance.surface.stage import Stage

Json = dict[str, Any]


def replay(case: Case) -> bool:
    """Run one case; say whether a fix decided about something in it.

    Raises:
        Mismatch: at the first step whose result fits none of the accepted lists any more.
    """
    stage = Stage(case)
    stage.begin()
    fixes = Fixes(stage)
    options = [_Option(results) for results in case.raw.get("accept") or [case.raw["expect"]]]
    steps = stage.raw["steps"]
    if any(len(option.results) != len(steps) for option in options):
        raise Mismatch(f"case: {len(steps)} steps, another number of results")
    for number, step in enumerate(steps):
        fixes.before(step)
        actual = stage.take(number, step)
        fixes.after(step)
        problems = [option.differs(fixes, number, step, actual) for option in options]
        left = [option for option, problem in zip(options, problems, strict=True) if not problem]
        if not left:
            name = step.get("fn") or step.get("path") or ""
            raise Mismatch(f"step {number} {step['op']} {name}".rstrip() + f": {problems[0]}")
        options = left
    return all(option.used_fix for option in options)


@dataclass(slots=True)
class _Option:
    """One accepted list of results, and whether a fix has been needed so far to agree with it."""

    results: list[Json]
    used_fix: bool = False

    def differs(self, fixes: Fixes, number: int, step: Json, actual: Json) -> str | None:
        expected = self.results[number]
        self.used_fix = self.used_fix or step_differs(step, expected, actual) is not None
        return members.strange(step, expected) or step_differs(step, *fixes.restated(step, expected, actual))
