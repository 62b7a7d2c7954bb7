"""The judges of one case together: compare an answer or an accounting, the fixes allowed for."""

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
    def __init__(self, case: Case, world: World) -> None:
        self._world = world
        self._course = Course(world)
        self._judges: list[Judge] = judges_for(case.quirks, world, self._course)

    def before(self, step: Json) -> None:
        for judge in self._judges:
            judge.before(step)

    def answer_differs(self, step: Json, pod: Json, actual: Json) -> str | None:
        """Return how an answer differs from what was recorded; of several outcomes it must be one."""
        options = step.get("accept") or [step["expect"]]
        shared = {"scores": step["scores"]} if "scores" in step else {}
        problems = [self._differs({**option, **shared}, step, pod, actual) for option in options]
        if not all(problems):
            return None
        more = f" (and {len(problems) - 1} other outcomes)" if len(problems) > 1 else ""
        return f"{problems[0]}{more}"

    def usage_differs(self, recorded: Json) -> str | None:
        expected, actual = normalized(recorded), usage(self._world.state)
        for judge in self._judges:
            expected = judge.usage(expected)
        if self._course.namespaces:
            actual = self._course.without_unused(actual)
        return difference(self._course.usage(expected), actual, "usage")

    def _differs(self, expected: Json, step: Json, pod: Json, actual: Json) -> str | None:
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
        return found or (None if accounting is None else self.usage_differs(accounting))


def _difference(expected: Json, actual: Json) -> str | None:
    left_out = {name for name in OPTIONAL if name not in expected}
    return difference(expected, {name: value for name, value in actual.items() if name not in left_out})
