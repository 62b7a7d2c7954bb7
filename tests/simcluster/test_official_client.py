"""The official Python client, whose models are strict about what they are given (K3.3-6)."""

from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes.client import (
    AdmissionregistrationV1Api,
    ApiClient,
    Configuration,
    CoordinationV1Api,
    CoreV1Api,
)
from kubernetes.watch import Watch

from simcluster.cluster import Cluster
from tests.simcluster.objects import gpu_pod
from tests.waiting import wait_until


@pytest.fixture
def official(scheduled: Cluster) -> Iterator[ApiClient]:
    with ApiClient(Configuration(host=scheduled.url)) as client:
        yield client


def test_typed_lists_pass_its_models(scheduled: Cluster, official: ApiClient) -> None:
    core: Any = CoreV1Api(official)
    scheduled.api.create("pods", gpu_pod())
    wait_until(lambda: scheduled.api.get("pods", "default/trainer")["status"]["phase"] == "Running")
    wait_until(lambda: scheduled.api.exists("leases", "kube-system/hami-scheduler"))
    assert [node.metadata.name for node in core.list_node().items] == ["a100-01", "l40s-02"]
    assert [pod.status.phase for pod in core.list_pod_for_all_namespaces().items] == ["Running"]
    assert core.list_event_for_all_namespaces().items
    assert CoordinationV1Api(official).list_lease_for_all_namespaces().items
    registrations: Any = AdmissionregistrationV1Api(official)
    hooks = registrations.list_mutating_webhook_configuration().items
    assert [hook.metadata.name for hook in hooks] == ["hami-webhook"]


def test_a_patch_without_content_type_is_strategic(official: ApiClient) -> None:
    """K3.3-3."""
    core: Any = CoreV1Api(official)
    node = core.patch_node("a100-01", {"metadata": {"labels": {"team": "vision"}}})
    assert node.metadata.labels["team"] == "vision"


def test_its_watch_yields_typed_events(official: ApiClient) -> None:
    watch: Any = Watch()  # type: ignore[no-untyped-call]  # it ships without annotations
    stream = watch.stream(CoreV1Api(official).list_node, timeout_seconds=1)
    assert [(event["type"], event["object"].metadata.name) for event in stream] == [
        ("ADDED", "a100-01"),
        ("ADDED", "l40s-02"),
    ]
