"""What the API server adds to a pod, and what it refuses in one."""

from collections.abc import Iterator

from simcluster import errors, quantities
from simcluster.objects import Json

_DEFAULTS: Json = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "serviceAccountName": "default",
    "enableServiceLinks": True,
    "priority": 0,
    "preemptionPolicy": "PreemptLowerPriority",
}
_CONTAINER_DEFAULTS: Json = {
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_EVICTING_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_MUTABLE = (
    "tolerations",
    "activeDeadlineSeconds",
    "terminationGracePeriodSeconds",
    "schedulingGates",
    "nodeName",
)
_IMMUTABLE_TEXT = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def containers(pod: Json) -> Iterator[tuple[str, Json]]:
    """Yield (path, container), init containers first."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod["spec"].get(field) or []):
            yield f"spec.{field}[{index}]", container


def is_extended(name: str) -> bool:
    """Whether a resource is one that may not be overcommitted: it has a domain other than kubernetes.io."""
    domain, slash, _ = name.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io")


def set_defaults(pod: Json) -> None:
    """Fill in what a client may leave out; run before admission, and again after it (K2.2-6)."""
    spec = pod.setdefault("spec", {})
    for name, value in _DEFAULTS.items():
        spec.setdefault(name, value)
    spec.setdefault("securityContext", {})
    for _, container in containers(pod):
        for name, value in _CONTAINER_DEFAULTS.items():
            container.setdefault(name, value)
        _default_requests(container.setdefault("resources", {}))
    _default_tolerations(spec)


def set_initial_status(pod: Json) -> None:
    pod["metadata"]["generation"] = 1
    pod["status"] = {"phase": "Pending", "qosClass": _qos_class(pod)}


def validate(pod: Json) -> None:
    """Raise StatusError 422 with every cause found."""
    causes: list[Json] = []
    if not pod["spec"].get("containers"):
        causes.append(_cause("FieldValueRequired", "Required value", "spec.containers"))
    for path, container in containers(pod):
        causes += [
            _cause("FieldValueRequired", "Required value", f"{path}.{field}")
            for field in ("name", "image")
            if not container.get(field)
        ]
        causes += _resource_causes(path, container)
    if causes:
        raise errors.invalid("Pod", pod["metadata"].get("name", ""), causes)


def check_update(old: Json, new: Json) -> None:
    """Raise StatusError 422 when more than the few mutable fields of the spec changed (K4.5-8)."""
    if _frozen_part(old) != _frozen_part(new):
        cause = _cause("FieldValueForbidden", _IMMUTABLE_TEXT, "spec")
        raise errors.invalid("Pod", old["metadata"]["name"], [cause])


def _frozen_part(pod: Json) -> Json:
    spec = {name: value for name, value in pod["spec"].items() if name not in _MUTABLE}
    for field in ("containers", "initContainers"):
        if field in spec:
            spec[field] = [container | {"image": ""} for container in spec[field]]
    return spec


def _default_requests(resources: Json) -> None:
    for field in ("limits", "requests"):
        quantities.canonicalise(resources.get(field) or {})
    limits = resources.get("limits") or {}
    if limits:
        resources["requests"] = limits | (resources.get("requests") or {})


def _default_tolerations(spec: Json) -> None:
    tolerations = spec.setdefault("tolerations", [])
    for key in _EVICTING_TAINTS:
        if not any(row.get("key") in {key, None, ""} for row in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            )


def _resource_causes(path: str, container: Json) -> list[Json]:
    limits = container["resources"].get("limits") or {}
    requests = container["resources"].get("requests") or {}
    return [
        cause
        for name, text in requests.items()
        if (cause := _request_cause(f"{path}.resources", name, text, limits.get(name)))
    ] + [
        _cause(
            "FieldValueInvalid",
            f'Invalid value: "{text}": must be an integer',
            f"{path}.resources.limits[{name}]",
        )
        for name, text in limits.items()
        if is_extended(name) and quantities.value_of(text).denominator != 1
    ]


def _request_cause(path: str, name: str, request: str, limit: str | None) -> Json | None:
    if limit is None:
        if not is_extended(name):
            return None
        message = "Required value: Limit must be set for non overcommitable resources"
        return _cause("FieldValueRequired", message, f"{path}.limits")
    wanted, allowed = quantities.value_of(request), quantities.value_of(limit)
    if is_extended(name) and wanted != allowed:
        message = f'Invalid value: "{request}": must be equal to {name} limit of {limit}'
        return _cause("FieldValueInvalid", message, f"{path}.requests")
    if wanted > allowed:
        message = f'Invalid value: "{request}": must be less than or equal to {name} limit of {limit}'
        return _cause("FieldValueInvalid", message, f"{path}.requests")
    return None


def _cause(reason: str, message: str, field: str) -> Json:
    return {"reason": reason, "message": message, "field": field}


def _qos_class(pod: Json) -> str:
    asked = [
        (container["resources"].get("limits") or {}, container["resources"].get("requests") or {})
        for _, container in containers(pod)
    ]
    native = ("cpu", "memory")
    if not any(name in part for pair in asked for part in pair for name in native):
        return "BestEffort"
    guaranteed = all(
        limits.get(name) and limits[name] == requests.get(name)
        for limits, requests in asked
        for name in native
    )
    return "Guaranteed" if guaranteed else "Burstable"
