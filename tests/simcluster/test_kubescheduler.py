"""The parts of the simulated scheduler, each alone."""

from typing import Any

import pytest

from simcluster import podqueue
from simcluster.extenderclient import ExtenderError, judged
from simcluster.fitting import NodeState, request_of, resources_named, why_not
from simcluster.podqueue import PodQueue
from tests.simcluster.objects import make_pod
from tests.waiting import wait_until

IGNORED = frozenset({"nvidia.com/gpu"})


def make_node(**spec: Any) -> NodeState:
    allocatable = {"cpu": "2", "memory": "4Gi", "pods": "2"}
    return NodeState(
        {
            "metadata": {"name": "n", "labels": {"a": "b"}},
            "spec": spec,
            "status": {"allocatable": allocatable},
        }
    )


def asking(**requests: str) -> dict[str, Any]:
    pod = make_pod(uid="u1", namespace="default")
    pod["spec"]["containers"][0]["resources"] = {"requests": requests}
    return pod


def refusal(pod: dict[str, Any], node: NodeState) -> str:
    return why_not(pod, request_of(pod, IGNORED), node)


def test_native_resources_are_checked_and_managed_ones_are_not() -> None:
    """K1.2-7."""
    assert refusal(asking(cpu="2000m", **{"nvidia.com/gpu": "99"}), make_node()) == ""
    assert refusal(asking(cpu="2001m"), make_node()) == "Insufficient cpu"
    assert refusal(asking(**{"other.io/card": "1"}), make_node()) == "Insufficient other.io/card"


def test_pods_on_a_node_count() -> None:
    node, pod = make_node(), asking(cpu="1500m")
    node.put("u1", request_of(pod, IGNORED))
    assert refusal(pod, node) == "Insufficient cpu"
    node.put("u2", request_of(asking(), IGNORED))
    assert refusal(asking(), node) == "Too many pods"
    node.take("u1")
    assert refusal(pod, node) == ""


def test_cordons_taints_and_selectors_keep_pods_away() -> None:
    tainted = make_node(taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}])
    tolerant = asking()
    tolerant["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    choosy = asking()
    choosy["spec"]["nodeSelector"] = {"a": "c"}
    assert refusal(asking(), make_node(unschedulable=True)) == "node(s) were unschedulable"
    assert refusal(asking(), tainted) == "node(s) had untolerated taint {gpu: yes}"
    assert refusal(tolerant, tainted) == ""
    assert refusal(choosy, make_node()) == "node(s) didn't match Pod's node affinity/selector"


def test_resources_are_named_by_requests_limits_and_init_containers() -> None:
    """K1.3-1."""
    pod = asking(cpu="1")
    pod["spec"]["initContainers"] = [{"name": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]
    assert resources_named(pod) == {"cpu", "nvidia.com/gpu"}


def test_answers_arejudged_as_kube_scheduler_judges_them() -> None:
    """K1.4-8, K1.4-9, K1.4-10, K1.4-14."""
    nodes = {"items": [{"metadata": {"name": "b"}}]}
    assert judged({"nodenames": ["a"], "nodes": nodes}, ["a", "b"]).nodes == ["a"]
    assert judged({"nodenames": None, "nodes": nodes}, ["a", "b"]).nodes == ["b"]
    assert judged({}, ["a"]).nodes == []
    failed = judged({"nodenames": [], "failednodes": {"a": "x", "b": "x"}}, ["a", "b"])
    assert dict(failed.reasons) == {"x": 2}


def test_a_node_nobody_asked_about_is_an_error() -> None:
    """K1.4-7."""
    with pytest.raises(ExtenderError, match="not found in the input node list"):
        judged({"nodenames": ["z"]}, ["a"])


def test_pods_come_by_priority_then_age() -> None:
    queue = PodQueue()
    for name, priority in (("a", 0), ("b", 5), ("c", 0)):
        pod = asking()
        pod["metadata"] |= {"name": name, "uid": name}
        pod["spec"]["priority"] = priority
        queue.add(pod)
    assert [waiting.uid for waiting in iter(queue.pop, None)] == ["b", "a", "c"]


def test_a_parked_pod_waits_for_a_change_and_its_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """K1.4-15."""
    monkeypatch.setattr(podqueue, "INITIAL_BACKOFF_SECONDS", 0.02)
    queue = PodQueue()
    queue.add(asking())
    assert queue.pop() is not None
    queue.park("u1")
    assert queue.pop() is None
    queue.cluster_changed()
    wait_until(lambda: queue.pop() is not None)
    queue.back_off("u1")
    wait_until(lambda: queue.pop() is not None)
    queue.park("u1")
    queue.drop("u1")
    queue.cluster_changed()
    assert (queue.pop(), len(queue)) == (None, 0)
