"""Which judge holds for which quirk."""

from collections.abc import Iterable

from scheduler_app.conformance.quirks.counted import CountedAsItIs, SidecarsRun
from scheduler_app.conformance.quirks.course import Course
from scheduler_app.conformance.quirks.int32 import NeverWrapped
from scheduler_app.conformance.quirks.judge import Judge
from scheduler_app.conformance.quirks.q1 import TruePositions
from scheduler_app.conformance.quirks.q2 import StaysOut
from scheduler_app.conformance.quirks.q3 import CordonAtOnce
from scheduler_app.conformance.quirks.q4 import KnownAtOnce
from scheduler_app.conformance.quirks.q5_q24 import LimitsHold, SmallestLimit
from scheduler_app.conformance.quirks.q7 import NodesEchoed
from scheduler_app.conformance.quirks.q37_q39 import OldDecisionCleared
from scheduler_app.conformance.world import World
from scheduler_app.core.errors import HamiError

TAGGED: dict[str, type[Judge]] = {
    "Q-1": TruePositions,
    "Q-3": CordonAtOnce,
    "Q-4": KnownAtOnce,
    "Q-5": LimitsHold,
    "Q-7": NodesEchoed,
    "Q-21": CountedAsItIs,
    "Q-22": CountedAsItIs,
    "Q-23": SidecarsRun,
    "Q-24": SmallestLimit,
}
STANDING: tuple[type[Judge], ...] = (StaysOut, OldDecisionCleared, NeverWrapped)
"""Judges of every case, since not all that they concern are tagged; what they look for is unmistakable."""
MATCHED = frozenset(("Q-2", "Q-30", "Q-33", "Q-37", "Q-39", "Q-44", "W16"))
"""Tags without a judge of their own: standing, or the reference's behaviour is ours."""


def judges_for(quirks: Iterable[str], world: World, course: Course) -> list[Judge]:
    """Return the judges of a case.

    Raises:
        HamiError: a tag that nobody judges.
    """
    tags = sorted(quirks)
    unknown = [tag for tag in tags if tag not in TAGGED and tag not in MATCHED]
    if unknown:
        raise HamiError(f"case: no judge for {', '.join(unknown)}")
    kinds = dict.fromkeys([*(TAGGED[tag] for tag in tags if tag in TAGGED), *STANDING])
    return [kind(world, course) for kind in kinds]
