"""Runs cases one after the other and tells what differs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scheduler_app.conformance import scenario
from scheduler_app.conformance.cases import Case
from scheduler_app.conformance.mismatch import Mismatch
from scheduler_app.conformance.surface import replay as surface

_REPLAY = {"filter": scenario.replay, "surface": surface.replay}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The first difference of a case, or None, and whether a fix decided that there is none."""

    problem: str | None = None
    used_fix: bool = False


@dataclass(slots=True)
class Report:
    """Counts by family, and the cases that passed by a fix which no list names for them."""

    passed: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        return f"{sum(self.passed.values())} passed, {sum(self.failed.values())} failed"

    @property
    def families(self) -> list[str]:
        """Return a line for each family, ascending."""
        names = sorted(self.passed.keys() | self.failed.keys())
        return [f"{n}: {self.passed.get(n, 0)} passed, {self.failed.get(n, 0)} failed" for n in names]


def outcome(case: Case) -> Outcome:
    """Replay a case."""
    try:
        return Outcome(used_fix=_REPLAY[case.suite](case))
    except Mismatch as exc:
        return Outcome(str(exc))
    except Exception as exc:  # noqa: BLE001  (a defect of ours is a difference too, and the rest must still run)
        return Outcome(f"{type(exc).__name__}: {exc}")


def run(cases: Iterable[Case], *, tell: Callable[[str], None]) -> Report:
    """Replay cases and tell a line for each that fails."""
    report = Report()
    for case in cases:
        found = outcome(case)
        counts = report.passed if found.problem is None else report.failed
        name = f"{case.suite}/{case.family}"
        counts[name] = counts.get(name, 0) + 1
        if found.used_fix and not case.quirks:
            report.unnamed.append(case.id)
        if found.problem is not None:
            tell(f"{case.id}: {found.problem}")
    return report
