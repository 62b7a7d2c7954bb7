"""The judges of one case together: compare an answer or an accounting, the fixes allowed for."""

from dataclasses import dataclass
from typing import Any

from scheduler_app.conformance.cases import Case
from scheduler_app.conformance.compare import difference
from scheduler_app.conformance.quirks.course import Course
from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.conformance.quirks.table import judges_for
from scheduler_app.conformance.usage import normalized, usage
from scheduler_app.conformance.world import World

Json = dict[str, Any]
OPTIONAL = ("events", "scores")  # left out of a recording where they varied (its README)


class Panel:
    """``used_fix`` says whether a fix had to decide about what is not as recorded."""

    def __init__(self, case: Case, world: World) -> None:
        self._world = world
        self._course = Course(world)
        self._judges: list[Judge] = judges_for(case.quirks, world, self._course)
        self.used_fix = False

    def before(self, step: Json) -> None:
        for judge in self._judges:
            judge.before(step)

    def answer_differs(self, step: Json, pod: Json, actual: Json) -> str | None:
        """Return how an answer differs from what was recorded; of several outcomes it must be one."""
        options = step.get("accept") or [step["expect"]]
        shared = {"scores": step["scores"]} if "scores" in step else {}
        found = [self._judged({**option, **shared}, step, pod, actual) for option in options]
        fitting = [verdict for verdict in found if not verdict.problem]
        if fitting:
            self.used_fix = self.used_fix or all(verdict.used_fix for verdict in fitting)
            return None
        more = f" (and {len(found) - 1} other outcomes)" if len(found) > 1 else ""
        return f"{found[0].problem}{more}"

    def usage_differs(self, recorded: Json) -> str | None:
        verdict = self._judged_usage(recorded)
        self.used_fix = self.used_fix or verdict.used_fix
        return verdict.problem

    def _judged(self, expected: Json, step: Json, pod: Json, actual: Json) -> "_Verdict":
        accounting = expected.pop("expect_usage", None)
        if "patch" in expected:
            expected.setdefault("labels", {})
        seen = Seen(step, pod, expected, actual)
        self._course.is_open = False
        for judge in self._judges:
            seen = judge.decision(seen)
        found = _difference(seen.expected, actual)
        if found and self._course.affected(step, pod):
            found = _difference(self._course.restated(seen.expected, actual, step=step, pod=pod), actual)
        verdict = _Verdict(found, used_fix=_difference(expected, actual) is not None)
        return verdict if found or accounting is None else verdict.and_also(self._judged_usage(accounting))

    def _judged_usage(self, recorded: Json) -> "_Verdict":
        expected, actual = normalized(recorded), usage(self._world.state)
        used_fix = difference(expected, actual) is not None
        for judge in self._judges:
            expected = judge.usage(expected)
        if self._course.namespaces:
            actual = self._course.without_unused(actual)
        return _Verdict(difference(self._course.usage(expected), actual, "usage"), used_fix=used_fix)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What is wrong, and whether a fix decided that nothing is."""

    problem: str | None
    used_fix: bool

    def and_also(self, other: "_Verdict") -> "_Verdict":
        return _Verdict(other.problem, used_fix=self.used_fix or other.used_fix)


def _difference(expected: Json, actual: Json) -> str | None:
    left_out = {name for name in OPTIONAL if name not in expected}
    return difference(expected, {name: value for name, value in actual.items() if name not in left_out})
