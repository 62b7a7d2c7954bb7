"""What a judge is: it restates what was recorded as the fix would have it, and never looks away.

Where a fix leads to another outcome than the recorded one, the cards of that node are in other use from then
on, and later recorded scores say nothing about it. A judge then marks the node, and ``course.Course`` holds
our answers about marked nodes against rules instead of against numbers.
"""

from dataclasses import dataclass, replace
from typing import Any

from scheduler_app.conformance.quirks.course import Course
from scheduler_app.conformance.world import World

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """One decision, recorded and ours, about to be compared. ``pod`` is the object that was filtered."""

    step: Json
    pod: Json
    expected: Json
    actual: Json

    @property
    def is_live(self) -> bool:
        """False for a simulation."""
        return "patch" in self.expected

    def expecting(self, **members: Any) -> "Seen":
        return replace(self, expected={**self.expected, **members})


class Judge:
    """The rule of one fix, for one case. Every hook's default changes nothing."""

    def __init__(self, world: World, course: Course) -> None:
        self.world = world
        self.course = course

    def before(self, step: Json) -> None:
        """Look at a step before it is taken."""

    def decision(self, seen: Seen) -> Seen:
        """Restate a decision, and mark nodes that will differ from now on."""
        return seen

    def usage(self, expected: Json) -> Json:
        """Restate an accounting whose cards are as in ``usage.ordered``."""
        return expected
