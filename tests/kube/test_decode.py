import json
from typing import Any

import pytest

from scheduler_app.core.types import Condition, Container
from scheduler_app.kube.decode import decode_node, decode_pod, decode_quota
from scheduler_app.kube.errors import DecodeError


def pod(*, spec: Any = None, status: Any = None, **meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", "namespace": "ns", "uid": "u", **meta}, "spec": spec, "status": status}


def test_a_pod_keeps_what_we_read_and_nothing_else() -> None:
    """I10."""
    raw = pod(
        resourceVersion="7",
        annotations={"a": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
        labels={"l": "2"},
        creationTimestamp="2026-01-02T15:04:05Z",
        managedFields=[{"manager": "kubelet"}],
        spec={
            "nodeName": "n1",
            "schedulerName": "hami-scheduler",
            "schedulingGates": [{"name": "wait"}],
            "priority": 1000,
            "initContainers": [
                {"name": "i"},
                {"name": "side", "restartPolicy": "Always", "resources": {}},
            ],
            "containers": [
                {
                    "name": "c",
                    "env": [{"name": "A"}],
                    "resources": {"limits": {"vendor.example/gpu": "1"}, "requests": {"cpu": "500m"}},
                }
            ],
        },
        status={
            "phase": "Pending",
            "conditions": [
                {"type": "Ready", "status": "False"},
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no"},
            ],
        },
    )
    found = decode_pod(raw)
    assert decode_pod(json.dumps(raw).encode()) == found
    assert (found.namespace, found.name, found.uid, found.resource_version) == ("ns", "p", "u", "7")
    assert (found.annotations, found.labels) == ({"a": "1"}, {"l": "2"})
    assert found.containers == (Container("c", {"vendor.example/gpu": "1"}, {"cpu": "500m"}),)
    assert found.init_containers == (Container("i"), Container("side", restarts_always=True))
    assert (found.node_name, found.phase, found.scheduler_name) == ("n1", "Pending", "hami-scheduler")
    assert found.scheduling_gates == ("wait",)
    assert found.priority == 1000
    assert found.scheduled == Condition("False", "Unschedulable", "no")
    assert found.created == "2026-01-02T15:04:05Z"
    assert not found.is_terminating


def test_a_bare_pod_is_enough() -> None:
    found = decode_pod({"metadata": {"name": "p"}})
    assert (found.namespace, found.uid, found.containers, found.phase) == ("", "", (), "")


def test_members_may_be_null() -> None:
    """I11: what would fail a whole typed list."""
    spec = {"containers": None, "nodeName": None, "schedulingGates": None, "schedulingGroup": None}
    status = {"phase": None, "conditions": None, "initContainerStatuses": None}
    found = decode_pod(pod(annotations=None, labels={"a": None}, spec=spec, status=status))
    assert (found.containers, found.annotations, found.labels) == ((), {}, {"a": ""})


def test_quantities_keep_their_value_whatever_their_type() -> None:
    limits = {"a": "1", "b": 1, "c": 1.5, "d": "2Gi"}
    found = decode_pod(pod(spec={"containers": [{"resources": {"limits": limits}}]}))
    assert found.containers[0].limits == {"a": "1", "b": "1", "c": "1.5", "d": "2Gi"}


@pytest.mark.parametrize(
    ("labels", "group", "expected"),
    [
        ({"scheduling.x-k8s.io/pod-group": "g"}, None, "g"),
        ({"scheduling.x-k8s.io/pod-group": ""}, None, ""),
        ({}, {"podGroupName": "h"}, "h"),
        ({"scheduling.x-k8s.io/pod-group": "g"}, {"podGroupName": "h"}, "g"),
        ({}, {"podGroupName": None}, ""),
    ],
)
def test_a_pod_group_comes_from_label_or_spec(
    labels: dict[str, str], group: dict[str, str] | None, expected: str
) -> None:
    """B-6."""
    assert decode_pod(pod(labels=labels, spec={"schedulingGroup": group})).pod_group == expected


ENDED, FAILED = {"terminated": {"exitCode": 0}}, {"terminated": {"exitCode": 1}}


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], False),
        ([ENDED], True),
        ([ENDED, ENDED], True),
        ([ENDED, FAILED], False),
        ([ENDED, {"running": {}}], False),
        ([ENDED, {"terminated": {}}], False),
        ([ENDED, None], False),
    ],
)
def test_init_containers_have_succeeded_when_all_ended_well(states: list[Any], expected: bool) -> None:
    """M-14, Q-23."""
    status = {"initContainerStatuses": [{"name": "i", "state": state} for state in states]}
    assert decode_pod(pod(status=status)).init_succeeded is expected


def test_a_terminating_pod_says_so() -> None:
    assert decode_pod(pod(deletionTimestamp="2026-01-02T15:04:05Z")).is_terminating


@pytest.mark.parametrize(
    ("kind", "name", "labels", "expected"),
    [
        ("ReplicaSet", "train-5d9c", {"pod-template-hash": "5d9c"}, "Deployment/train"),
        ("ReplicaSet", "train-5d9c", {}, "ReplicaSet/train-5d9c"),
        ("ReplicaSet", "own", {"pod-template-hash": "5d9c"}, "ReplicaSet/own"),
        ("Job", "train", {}, "Job/train"),
    ],
)
def test_the_owner_is_what_people_made(kind: str, name: str, labels: dict[str, str], expected: str) -> None:
    references = [{"kind": "Other", "name": "x"}, {"kind": kind, "name": name, "controller": True}]
    assert decode_pod(pod(labels=labels, ownerReferences=references)).owner == expected


def test_a_node_keeps_capacity_and_conditions() -> None:
    raw = {
        "metadata": {
            "name": "n1",
            "resourceVersion": "3",
            "labels": {"gpu": "on"},
            "annotations": {"a": "b"},
        },
        "spec": {"unschedulable": True, "podCIDR": "10.0.0.0/24"},
        "status": {
            "capacity": {"vendor.example/gpu": "20"},
            "allocatable": {"vendor.example/gpu": "10"},
            "conditions": [{"type": "Ready", "status": "Unknown"}],
        },
    }
    found = decode_node(raw)
    assert decode_node(json.dumps(raw).encode()) == found
    assert (found.name, found.resource_version) == ("n1", "3")
    assert (found.capacity, found.allocatable) == ({"vendor.example/gpu": "20"}, {"vendor.example/gpu": "10"})
    assert (found.is_ready, found.is_unschedulable) == (False, True)


def test_a_node_without_conditions_is_not_held_back() -> None:
    found = decode_node({"metadata": {"name": "n1"}, "status": {}})
    assert (found.is_ready, found.is_unschedulable) == (True, False)


def test_a_quota_keeps_its_hard_limits_as_written() -> None:
    raw = {"metadata": {"name": "q", "namespace": "ns"}, "spec": {"hard": {"limits.a/b": "10Gi", "pods": 3}}}
    found = decode_quota(raw)
    assert (found.namespace, found.name) == ("ns", "q")
    assert found.hard == {"limits.a/b": "10Gi", "pods": "3"}


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (b"not json", "malformed"),
        (b"\xff\xfe", ""),
        (b"[]", "Expected"),
        ({"metadata": {}}, "name"),
        (pod(spec={"containers": "none"}), "$.spec.containers"),
        (pod(annotations={"a": 1}), "$.metadata.annotations"),
    ],
)
def test_a_wrong_type_is_named(raw: Any, named: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_pod(raw)
    assert named in str(caught.value)
