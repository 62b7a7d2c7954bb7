"""Events in their two API forms over one storage: core ``v1`` and ``events.k8s.io/v1`` (K4.6-1)."""

from simcluster.objects import Json

_TO_NEW = {
    "message": "note",
    "involvedObject": "regarding",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "source": "deprecatedSource",
    "reportingComponent": "reportingController",
}
_TO_CORE = {new: core for core, new in _TO_NEW.items()}


def to_new(event: Json) -> Json:
    return _renamed(event, _TO_NEW) | {"apiVersion": "events.k8s.io/v1", "kind": "Event"}


def to_core(event: Json) -> Json:
    return _renamed(event, _TO_CORE) | {"apiVersion": "v1", "kind": "Event"}


def to_core_patch(patch: object) -> object:
    """Rename the members of a merge patch; a JSON patch of an event is left as it is."""
    return _renamed(patch, _TO_CORE) if isinstance(patch, dict) else patch


def _renamed(event: Json, names: dict[str, str]) -> Json:
    return {names.get(name, name): value for name, value in event.items()}
