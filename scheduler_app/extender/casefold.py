"""Member names in any case: kube-scheduler's decoder takes them, so peers may send them (H-6, K1.1-1).

Only the members we read are renamed; keys of maps (annotations, labels, resources) are data and stay as
they are.
"""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
"""Member name → None (taken as it is), a schema (an object), or ``[schema]`` (a list of such)."""

_META: Schema = dict.fromkeys(
    (
        "name", "namespace", "uid", "annotations", "labels", "generateName", "deletionTimestamp",
        "creationTimestamp", "resourceVersion", "ownerReferences",
    )
)  # fmt: skip
_CONTAINER: Schema = {
    "name": None,
    "restartPolicy": None,
    "resources": {"limits": None, "requests": None},
}
_STATUS: Schema = {
    "phase": None,
    "conditions": [{"type": None, "status": None, "reason": None, "message": None}],
    "initContainerStatuses": [{"state": {"terminated": {"exitCode": None}}}],
}
POD: Schema = {
    "metadata": _META,
    "spec": {
        "containers": [_CONTAINER],
        "initContainers": [_CONTAINER],
        "schedulerName": None,
        "nodeName": None,
        "schedulingGates": None,
        "schedulingGroup": None,
        "priority": None,
    },
    "status": _STATUS,
}
NODE: Schema = {
    "metadata": _META,
    "spec": {"unschedulable": None},
    "status": {"capacity": None, "allocatable": None, "conditions": [{"type": None, "status": None}]},
}


def fold(value: Any, schema: Any) -> Any:
    """Return ``value`` with the members under their proper names; the last spelling wins, as in Go."""
    if isinstance(schema, list):
        return [fold(item, schema[0]) for item in value] if isinstance(value, list) else value
    if schema is None or not isinstance(value, dict):
        return value
    names = {name.lower(): name for name in schema}
    folded: dict[str, Any] = {}
    for key, item in value.items():
        name = names.get(str(key).lower(), str(key))
        folded[name] = fold(item, schema.get(name))
    return folded
