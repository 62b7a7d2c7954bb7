"""API objects to core types."""

from collections.abc import Mapping
from typing import Any

from scheduler_app.core import annotations
from scheduler_app.core.types import Condition, Container, Node, NodeName, Pod, PodUid, ResourceQuota

Json = Mapping[str, Any]


def pod(raw: Json) -> Pod:
    meta, spec, status = (raw.get(name) or {} for name in ("metadata", "spec", "status"))
    labels = meta.get("labels") or {}
    return Pod(
        namespace=meta.get("namespace") or "",
        name=meta.get("name") or "",
        uid=PodUid(meta.get("uid") or ""),
        containers=_containers(spec.get("containers")),
        init_containers=_containers(spec.get("initContainers")),
        annotations=dict(meta.get("annotations") or {}),
        labels=dict(labels),
        node_name=spec.get("nodeName") or "",
        phase=status.get("phase") or "",
        is_terminating=bool(meta.get("deletionTimestamp")),
        init_succeeded=_init_succeeded(status.get("initContainerStatuses")),
        scheduler_name=spec.get("schedulerName") or "",
        pod_group=labels.get(annotations.POD_GROUP, ""),
        scheduled=_scheduled(status.get("conditions")),
        resource_version=meta.get("resourceVersion") or "",
    )


def node(raw: Json) -> Node:
    meta, spec, status = (raw.get(name) or {} for name in ("metadata", "spec", "status"))
    conditions = status.get("conditions") or ()
    return Node(
        name=NodeName(meta.get("name") or ""),
        annotations=dict(meta.get("annotations") or {}),
        labels=dict(meta.get("labels") or {}),
        capacity=_texts(status.get("capacity")),
        allocatable=_texts(status.get("allocatable")),
        is_ready=any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions),
        is_unschedulable=bool(spec.get("unschedulable")),
        resource_version=meta.get("resourceVersion") or "",
    )


def quota(raw: Json) -> ResourceQuota:
    meta = raw.get("metadata") or {}
    hard = (raw.get("spec") or {}).get("hard")
    return ResourceQuota(meta.get("namespace") or "", meta.get("name") or "", _texts(hard))


def _texts(group: Json | None) -> dict[str, str]:
    return {key: str(value) for key, value in (group or {}).items()}


def _containers(items: Any) -> tuple[Container, ...]:
    return tuple(
        Container(
            item.get("name") or "",
            _texts((item.get("resources") or {}).get("limits")),
            _texts((item.get("resources") or {}).get("requests")),
            item.get("restartPolicy") == "Always",
        )
        for item in items or ()
    )


def _init_succeeded(statuses: Any) -> bool:
    ended = [(item.get("state") or {}).get("terminated") for item in statuses or ()]
    return bool(ended) and all(end is not None and end.get("exitCode", 0) == 0 for end in ended)


def _scheduled(conditions: Any) -> Condition:
    for item in conditions or ():
        if item.get("type") == "PodScheduled":
            return Condition(item.get("status") or "", item.get("reason") or "", item.get("message") or "")
    return Condition()
