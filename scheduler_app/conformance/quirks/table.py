"""Which judge holds for which quirk."""

from collections.abc import Iterable

from scheduler_app.conformance.quirks.base import Judge
from scheduler_app.conformance.quirks.q1 import TruePositions
from scheduler_app.conformance.world import World

JUDGES: dict[str, type[Judge]] = {"Q-1": TruePositions}


def judges_for(quirks: Iterable[str], world: World) -> list[Judge]:
    return [JUDGES[quirk](world) for quirk in sorted(quirks) if quirk in JUDGES]
