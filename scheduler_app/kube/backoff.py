"""How long to wait before the API server is asked again (K3.1-4, I05)."""

import random
from dataclasses import dataclass, field

from scheduler_app.kube.errors import ApiError, ForbiddenError, UnauthorizedError

FIRST_SECONDS = 0.8
CAP_SECONDS = 30.0
HEALTHY_SECONDS = 60.0


@dataclass(slots=True)
class Backoff:
    """0.8 s, doubling up to 30 s, plus up to as much again at random; from the start after a healthy minute.

    ``rng`` keeps replicas from retrying in step, at the cap too.
    """

    rng: random.Random = field(default_factory=random.Random)
    _next: float = FIRST_SECONDS

    def reset(self) -> None:
        self._next = FIRST_SECONDS

    def seconds(self, error: ApiError | None = None) -> float:
        """Return the next wait; Retry-After is a minimum, and missing rights are asked for slowly."""
        if isinstance(error, ForbiddenError | UnauthorizedError):
            self._next = CAP_SECONDS
        base, self._next = self._next, min(self._next * 2, CAP_SECONDS)
        wait = min(base * (1 + self.rng.random()), CAP_SECONDS * (1 + 0.2 * self.rng.random()))
        asked = error.retry_after_seconds if error is not None else 0.0
        return max(wait, asked)
