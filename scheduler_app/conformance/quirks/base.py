"""What a judge is: it restates what was recorded as the fix would have it, and never looks away."""

from dataclasses import dataclass, replace
from typing import Any

from scheduler_app.conformance.world import World

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """One decision, recorded and ours, about to be compared."""

    step: Json
    pod: Json
    expected: Json
    actual: Json

    def expecting(self, **members: Any) -> "Seen":
        return replace(self, expected={**self.expected, **members})

    def with_actual(self, **members: Any) -> "Seen":
        return replace(self, actual={**self.actual, **members})


class Judge:
    """The rule of one fix, for one case. Every hook's default changes nothing."""

    def __init__(self, world: World) -> None:
        self.world = world

    def before(self, step: Json) -> None:
        """Look at a step before it is taken."""

    def decision(self, seen: Seen) -> Seen:
        """Restate a decision."""
        return seen

    def usage(self, expected: Json, actual: Json) -> tuple[Json, Json]:
        """Restate an accounting."""
        return expected, actual
