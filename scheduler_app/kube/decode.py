"""Kubernetes JSON to domain values, from bytes or from mappings that are parsed already.

One odd object never fails a page (I11): it is left out, and whoever asked is told its name and what is wrong.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from scheduler_app.core import annotations
from scheduler_app.core.types import (
    NOTHING,
    Condition,
    Container,
    Node,
    NodeName,
    Pod,
    PodUid,
    ResourceQuota,
)
from scheduler_app.kube import shapes
from scheduler_app.kube.errors import DecodeError

Shape = TypeVar("Shape", bound=Struct)
Raw = bytes | Mapping[str, Any]
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # a second copy of the whole object
HASH_LABEL = "pod-template-hash"


def decode_pod(raw: Raw) -> Pod:
    """Return the pod in ``raw``.

    Raises:
        DecodeError: a member we read has the wrong type; the text names it.
    """
    return pod_from(shape_of(shapes.PodShape, raw))


def decode_node(raw: Raw) -> Node:
    """Return the node in ``raw``.

    Raises:
        DecodeError: as for a pod.
    """
    return node_from(shape_of(shapes.NodeShape, raw))


def decode_quota(raw: Raw) -> ResourceQuota:
    """Return the quota in ``raw``.

    Raises:
        DecodeError: as for a pod.
    """
    return quota_from(shape_of(shapes.QuotaShape, raw))


def shape_of(kind: type[Shape], raw: Raw) -> Shape:
    """Read the members that ``kind`` names.

    Raises:
        DecodeError: it is not JSON, or a member has the wrong type.
    """
    try:
        if isinstance(raw, bytes):
            return cast(Shape, decoder(kind).decode(raw))
        return msgspec.convert(raw, kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise DecodeError(f"unexpected JSON: {exc}") from exc


@functools.cache
def decoder(kind: type[Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def pod_from(shape: shapes.PodShape) -> Pod:
    meta, spec, status = shape.metadata, shape.spec or shapes.PodSpec(), shape.status or shapes.PodStatus()
    labels = _texts(meta.labels)
    return Pod(
        namespace=meta.namespace or "",
        name=meta.name,
        uid=PodUid(meta.uid or ""),
        containers=_containers(spec.containers),
        init_containers=_containers(spec.init_containers),
        annotations=_texts(meta.annotations),
        labels=labels,
        node_name=spec.node_name or "",
        phase=status.phase or "",
        is_terminating=meta.deletion_timestamp is not None,
        init_succeeded=_init_succeeded(status.init_container_statuses),
        scheduler_name=spec.scheduler_name or "",
        pod_group=_pod_group(labels, spec.scheduling_group),
        scheduled=_scheduled(status.conditions),
        scheduling_gates=tuple(gate.name for gate in spec.scheduling_gates or ()),
        owner=_owner(meta.owner_references, labels),
        created=meta.creation_timestamp or "",
        priority=spec.priority or 0,
        resource_version=meta.resource_version or "",
    )


def node_from(shape: shapes.NodeShape) -> Node:
    meta, status = shape.metadata, shape.status or shapes.NodeStatus()
    return Node(
        name=NodeName(meta.name),
        annotations=_texts(meta.annotations),
        labels=_texts(meta.labels),
        capacity=_quantities(status.capacity),
        allocatable=_quantities(status.allocatable),
        is_ready=_is_ready(status.conditions),
        is_unschedulable=bool(shape.spec and shape.spec.unschedulable),
        resource_version=meta.resource_version or "",
    )


def quota_from(shape: shapes.QuotaShape) -> ResourceQuota:
    hard = shape.spec.hard if shape.spec else None
    return ResourceQuota(shape.metadata.namespace or "", shape.metadata.name, _quantities(hard))


def _containers(given: Sequence[shapes.ContainerShape] | None) -> tuple[Container, ...]:
    return tuple(map(_container, given or ()))


def _container(shape: shapes.ContainerShape) -> Container:
    resources = shape.resources
    return Container(
        shape.name or "",
        _quantities(resources.limits) if resources else NOTHING,
        _quantities(resources.requests) if resources else NOTHING,
        shape.restart_policy == "Always",
    )


def _quantities(given: Mapping[str, shapes.Scalar] | None) -> Mapping[str, str]:
    """Return quantities as text; a bare number, which only hand-made objects have, keeps its value."""
    if not given:
        return NOTHING
    return {key: value if type(value) is str else str(value) for key, value in given.items()}


def _texts(given: Mapping[str, str | None] | None) -> Mapping[str, str]:
    if not given:
        return NOTHING
    return {key: value or "" for key, value in given.items() if key != LAST_APPLIED}


def _init_succeeded(statuses: Sequence[shapes.ContainerStatus] | None) -> bool:
    """Say whether there are init statuses and all of them ended with code 0 (M-14)."""
    states = [status.state for status in statuses or ()]
    ended = [state.terminated.exit_code == 0 for state in states if state and state.terminated]
    return bool(states) and len(ended) == len(states) and all(ended)


def _pod_group(labels: Mapping[str, str], group: shapes.SchedulingGroup | None) -> str:
    """Return the pod's group: the co-scheduling label, or the API's own field (B-6)."""
    return labels.get(annotations.POD_GROUP) or (group.pod_group_name if group else None) or ""


def _scheduled(conditions: Iterable[shapes.ConditionShape] | None) -> Condition:
    for given in conditions or ():
        if given.type == "PodScheduled":
            return Condition(given.status, given.reason or "", given.message or "")
    return Condition()


def _is_ready(conditions: Iterable[shapes.ConditionShape] | None) -> bool:
    """Return the Ready condition; a node that has none yet is not held back for it."""
    return all(given.status == "True" for given in conditions or () if given.type == "Ready")


def _owner(references: Sequence[shapes.Owner] | None, labels: Mapping[str, str]) -> str:
    """Return ``"Deployment/train"``: a ReplicaSet named after a template hash belongs to a Deployment."""
    for owner in references or ():
        if owner.controller:
            name = owner.name.removesuffix(f"-{labels.get(HASH_LABEL, '')}")
            is_deployed = owner.kind == "ReplicaSet" and HASH_LABEL in labels and name != owner.name
            return f"Deployment/{name}" if is_deployed else f"{owner.kind}/{owner.name}"
    return ""
