"""The Lease that a sibling kube-scheduler holds, for a reflector to follow (L-1 to L-5). We hold none."""

from scheduler_app.core.types import Lease
from scheduler_app.kube import decode, paths, shapes
from scheduler_app.kube.resources import Resource


def lease_resource(namespace: str, name: str) -> Resource[Lease]:
    """Return what a reflector needs to follow one Lease by name (L-3).

    A relist tells nothing of a lease that has not changed, so it never looks like a renewal (Q-11).
    """
    return Resource(
        "lease",
        "Lease",
        paths.leases(namespace),
        shapes.LeaseShape,
        _lease_from,
        query={"fieldSelector": f"metadata.name={name}"},
    )


def decode_lease(raw: decode.Raw) -> Lease:
    """Return the lease in ``raw``.

    Raises:
        DecodeError: a member we read has the wrong type; the text names it.
    """
    return _lease_from(decode.shape_of(shapes.LeaseShape, raw))


def _lease_from(shape: shapes.LeaseShape) -> Lease:
    """Read a lease; one that lacks its holder or duration is one by which nobody leads (E06)."""
    spec = shape.spec or shapes.LeaseSpec()
    return Lease(spec.holder_identity or "", spec.lease_duration_seconds, spec.renew_time or "")
