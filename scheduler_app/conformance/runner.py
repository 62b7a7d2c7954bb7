"""Runs cases one after the other and tells what differs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scheduler_app.conformance import scenario
from scheduler_app.conformance.cases import Case
from scheduler_app.conformance.mismatch import Mismatch
from scheduler_app.conformance.surface import replay as surface

_REPLAY = {"filter": scenario.replay, "surface": surface.replay}


@dataclass(slots=True)
class Report:
    """Counts by family, passed and failed."""

    passed: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)

    @property
    def line(self) -> str:
        return f"{sum(self.passed.values())} passed, {sum(self.failed.values())} failed"

    @property
    def families(self) -> list[str]:
        """Return a line for each family, ascending."""
        names = sorted(self.passed.keys() | self.failed.keys())
        return [f"{n}: {self.passed.get(n, 0)} passed, {self.failed.get(n, 0)} failed" for n in names]


def failure(case: Case) -> str | None:
    """Return the first difference of a case, or None."""
    try:
        _REPLAY[case.suite](case)
    except Mismatch as exc:
        return str(exc)
    except Exception as exc:  # noqa: BLE001  (a defect of ours is a difference too, and the rest must still run)
        return f"{type(exc).__name__}: {exc}"
    return None


def run(cases: Iterable[Case], *, tell: Callable[[str], None]) -> Report:
    """Replay cases and tell a line for each that fails."""
    report = Report()
    for case in cases:
        found = failure(case)
        counts = report.passed if found is None else report.failed
        name = f"{case.suite}/{case.family}"
        counts[name] = counts.get(name, 0) + 1
        if found is not None:
            tell(f"{case.id}: {found}")
    return report
