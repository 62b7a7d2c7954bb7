"""The adapters against the embedded cluster, whose patches, versions and faults were not made for them."""

import time
from collections.abc import Iterator

import pytest
from kubernetes.client import ApiClient, Configuration

from scheduler_app.core.annotations import NODE_LOCK
from scheduler_app.core.backend import NodeLock
from scheduler_app.core.errors import LockContentionError
from scheduler_app.core.types import NodeName, Pod
from scheduler_app.kube import decode, paths
from scheduler_app.kube.client import KubeClient
from scheduler_app.kube.correlation import Involved, Note
from scheduler_app.kube.events import EventWriter
from scheduler_app.kube.nodelock import ApiNodeLocks
from scheduler_app.kube.patch import ApiPodWriter
from simcluster.cluster import Cluster, Settings
from tests.kube.reflecting import following
from tests.waiting import wait_until

SHARED = NodeLock(NODE_LOCK)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Settings(fleet="nvidia:3x1", workload=False, kubelets=False)) as made:
        yield made


@pytest.fixture
def client(cluster: Cluster) -> KubeClient:
    return KubeClient(ApiClient(Configuration(host=cluster.url)))


def make_pod(cluster: Cluster, client: KubeClient, name: str) -> Pod:
    spec = {"containers": [{"name": "c", "image": "i"}], "schedulerName": "hami-scheduler"}
    cluster.api.create("pods", {"metadata": {"name": name, "namespace": "default"}, "spec": spec})
    return decode.decode_pod(client.get(paths.pod("default", name)))


def test_a_view_survives_cut_watches_and_forgotten_versions(cluster: Cluster, client: KubeClient) -> None:
    """F10, I01: whatever happens, the store ends up with what the cluster has."""

    def names() -> set[str]:
        return {node.name for node in followed.store.list()}

    with following(client) as followed:
        wait_until(lambda: len(followed.store) == 3)
        first = sorted(names())[0]
        cluster.faults.cut_watches()
        cluster.remove_node(first)
        wait_until(lambda: first not in names())
        cluster.faults.gone()
        added = cluster.add_node("nvidia")
        wait_until(lambda: added in names())
        cluster.faults.fail(verb="watch", code=503, times=2)
        cluster.faults.cut_watches()
        cluster.remove_node(added)
        wait_until(lambda: added not in names())
        assert len(names()) == 2


def test_a_pod_is_locked_annotated_and_bound(cluster: Cluster, client: KubeClient) -> None:
    first, second = make_pod(cluster, client, "p1"), make_pod(cluster, client, "p2")
    node = decode.decode_node(client.get(paths.node(_some_node(cluster))))
    locks, writer = ApiNodeLocks(client, timeout_seconds=300), ApiPodWriter(client)
    assert locks.acquire(SHARED, node=node, pod=first) is True
    with pytest.raises(LockContentionError):
        locks.acquire(SHARED, node=node, pod=second)
    writer.patch_pod(first, annotations={"a": "1", "b": "2"}, labels={"l": "x"})
    writer.patch_pod(first, annotations={"b": None})
    writer.bind(namespace="default", name="p1", uid=first.uid, node=node.name)
    bound = decode.decode_pod(client.get(paths.pod("default", "p1")))
    assert (bound.node_name, bound.annotations["a"], bound.labels["l"]) == (node.name, "1", "x")
    assert "b" not in bound.annotations
    locks.release(SHARED, node=node.name, pod=first)
    assert locks.acquire(SHARED, node=node, pod=second) is True


def test_repeated_events_are_one_object(cluster: Cluster, client: KubeClient) -> None:
    """F-35."""
    pod = make_pod(cluster, client, "p1")
    writer = EventWriter(client, source="hami-scheduler", epoch=time.time)
    for _ in range(3):
        about = Involved("Pod", "default", "p1", pod.uid)
        prepared = writer.prepare(Note(about, "Warning", "FilteringFailed", "no available node"))
        assert prepared is not None
        writer.send(prepared)
    found = [item for item in cluster.api.list("events") if item["reason"] == "FilteringFailed"]
    assert [item["count"] for item in found] == [3]


def _some_node(cluster: Cluster) -> NodeName:
    return NodeName(cluster.api.list("nodes")[0]["metadata"]["name"])
