"""The Lease that a sibling kube-scheduler holds, as we observe it (L-1 to L-5). We hold none ourselves."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from scheduler_app.core.types import Lease
from scheduler_app.kube import paths, shapes
from scheduler_app.kube.resources import Resource


@dataclass(frozen=True, slots=True)
class LeaseObservation:
    """A lease and the monotonic time at which we saw it change last."""

    holder: str
    duration_seconds: int | None
    renew_time: str
    seen_at: float


def lease_resource(namespace: str, name: str) -> Resource[Lease]:
    """Return what a reflector needs to follow one Lease by name."""
    return Resource(
        "lease",
        "Lease",
        paths.leases(namespace),
        shapes.LeaseShape,
        _lease_from,
        query={"fieldSelector": f"metadata.name={name}"},
    )


class LeaseObserver:
    """The handler of a lease's reflector; any thread may read ``observation``.

    Only a change the server reports restarts the clock: a relist with the same renewal does not (Q-11).
    """

    def __init__(
        self,
        *,
        observed: Callable[[Lease], None] = lambda lease: None,
        lost: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._observed = observed
        self._lost = lost
        self._clock = clock
        self._observation: LeaseObservation | None = None

    @property
    def observation(self) -> LeaseObservation | None:
        return self._observation

    def added(self, new: Lease) -> None:
        self._see(new)

    def updated(self, old: Lease, new: Lease) -> None:
        self._see(new)

    def deleted(self, last: Lease) -> None:
        self._observation = None
        self._lost()

    def replaced(self) -> None:
        """Nothing to do: a lease that is not there was never seen, or has been told as deleted."""

    def _see(self, lease: Lease) -> None:
        self._observation = LeaseObservation(
            lease.holder, lease.duration_seconds, lease.renew_time, self._clock()
        )
        self._observed(lease)


def _lease_from(shape: shapes.LeaseShape) -> Lease:
    spec = shape.spec or shapes.LeaseSpec()
    return Lease(spec.holder_identity or "", spec.lease_duration_seconds, spec.renew_time or "")
