import pytest

from simcluster.cluster import Cluster
from simcluster.errors import StatusError
from tests.simcluster.conftest import Client
from tests.simcluster.objects import gpu_pod, make_pod
from tests.waiting import wait_until


def test_a_new_pod_is_completed(cluster: Cluster) -> None:
    pod = cluster.api.create("pods", make_pod(limits={"nvidia.com/gpu": 1, "cpu": "500m", "memory": "1.5Gi"}))
    resources = pod["spec"]["containers"][0]["resources"]
    assert resources["limits"] == {"nvidia.com/gpu": "1", "cpu": "500m", "memory": "1536Mi"}
    assert resources["requests"] == resources["limits"]
    assert pod["status"] == {"phase": "Pending", "qosClass": "Guaranteed"}
    assert (pod["metadata"]["generation"], pod["spec"]["schedulerName"]) == (1, "default-scheduler")
    assert pod["metadata"]["uid"]
    assert pod["metadata"]["creationTimestamp"].endswith("Z")


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({"requests": {"nvidia.com/gpu": 1}}, "Limit must be set for non overcommitable resources"),
        (
            {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}},
            'Invalid value: "1": must be equal to nvidia.com/gpu limit of 2',
        ),
        ({"limits": {"nvidia.com/gpu": "500m"}}, 'Invalid value: "500m": must be an integer'),
        (
            {"requests": {"cpu": 2}, "limits": {"cpu": 1}},
            'Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
    ],
)
def test_resources_that_cannot_be_are_invalid(
    cluster: Cluster, resources: dict[str, object], message: str
) -> None:
    pod = make_pod()
    pod["spec"]["containers"][0]["resources"] = resources
    with pytest.raises(StatusError, match=message) as refusal:
        cluster.api.create("pods", pod)
    assert (refusal.value.code, refusal.value.reason) == (422, "Invalid")


@pytest.mark.parametrize(
    ("pod", "message"),
    [
        ({"metadata": {"name": "x"}, "spec": {"containers": []}}, "spec.containers: Required value"),
        (make_pod("Capital"), "a lowercase RFC 1123 subdomain"),
        (make_pod(labels={"x": "y" * 64}), "must be no more than 63 characters"),
        ({"spec": {"containers": [{"name": "a"}]}}, "name or generateName is required"),
    ],
)
def test_a_bad_pod_is_invalid(cluster: Cluster, pod: dict[str, object], message: str) -> None:
    with pytest.raises(StatusError, match=message):
        cluster.api.create("pods", pod)


def test_a_generated_name_keeps_its_base(cluster: Cluster) -> None:
    pod = make_pod()
    pod["metadata"] = {"generateName": "job-"}
    names = {cluster.api.create("pods", pod)["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("job-") and len(name) == 9 for name in names)


def test_annotations_must_be_texts(cluster: Cluster) -> None:
    cluster.api.create("pods", make_pod())
    with pytest.raises(StatusError, match="cannot unmarshal") as refusal:
        cluster.api.patch("pods", "default/trainer", {"metadata": {"annotations": {"a": 1}}})
    assert refusal.value.code == 400


def test_a_pods_spec_is_mostly_immutable(cluster: Cluster) -> None:
    """K4.5-8."""
    cluster.api.create("pods", make_pod())
    image = [{"op": "replace", "path": "/spec/containers/0/image", "value": "job:2"}]
    assert (
        cluster.api.patch("pods", "default/trainer", image, kind="json")["spec"]["containers"][0]["image"]
        == "job:2"
    )
    with pytest.raises(StatusError, match="pod updates may not change fields other than"):
        cluster.api.patch("pods", "default/trainer", {"spec": {"hostNetwork": True}})


def test_the_status_has_its_own_endpoint(cluster: Cluster) -> None:
    """K4.5-8: labels and annotations in a status patch are kept."""
    cluster.api.create("pods", make_pod())
    both = {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Running"}, "spec": {"hostNetwork": True}}
    changed = cluster.api.patch("pods", "default/trainer", both, subresource="status")
    assert changed["status"]["phase"] == "Running"
    assert changed["metadata"]["labels"] == {"a": "b"}
    assert "hostNetwork" not in changed["spec"]
    kept = cluster.api.patch("pods", "default/trainer", {"status": {"phase": "Failed"}})
    assert kept["status"]["phase"] == "Running"


def test_node_status_is_canonical(cluster: Cluster) -> None:
    status = {"status": {"allocatable": {"nvidia.com/gpu": "4000m", "memory": "1024Gi"}}}
    node = cluster.api.patch("nodes", "a100-01", status, subresource="status")
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    assert node["status"]["allocatable"]["memory"] == "1Ti"


def test_a_bound_pod_is_deleted_gracefully(cluster: Cluster) -> None:
    """K4.5-7."""
    cluster.api.create("pods", make_pod())
    cluster.api.bind("default/trainer", "a100-01")
    marked = cluster.api.delete("pods", "default/trainer")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert cluster.api.exists("pods", "default/trainer")
    wait_until(lambda: not cluster.api.exists("pods", "default/trainer"))


def test_a_pod_without_node_goes_at_once(cluster: Cluster) -> None:
    cluster.api.create("pods", make_pod())
    cluster.api.delete("pods", "default/trainer")
    assert not cluster.api.exists("pods", "default/trainer")


def test_finalizers_hold_an_object(cluster: Cluster) -> None:
    cluster.api.create("configmaps", {"metadata": {"name": "c", "finalizers": ["x/y"]}})
    assert "deletionTimestamp" in cluster.api.delete("configmaps", "default/c")["metadata"]
    cluster.api.patch("configmaps", "default/c", {"metadata": {"finalizers": None}})
    assert not cluster.api.exists("configmaps", "default/c")


def test_a_deletion_may_name_the_uid(cluster: Cluster, client: Client) -> None:
    cluster.api.create("pods", make_pod())
    answer = client.call(
        "DELETE", "/api/v1/namespaces/default/pods/trainer", {"preconditions": {"uid": "other"}}
    )
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")


def test_a_namespace_takes_its_contents_with_it(cluster: Cluster) -> None:
    cluster.api.create("namespaces", {"metadata": {"name": "team"}})
    cluster.api.create("pods", make_pod(), namespace="team")
    cluster.api.delete("namespaces", "team")
    assert not cluster.api.exists("pods", "team/trainer")
    assert not cluster.api.exists("namespaces", "team")


def test_a_collection_is_deleted_by_its_selector(cluster: Cluster, client: Client) -> None:
    for name, app in (("a", "x"), ("b", "x"), ("c", "y")):
        cluster.api.create("pods", make_pod(name, labels={"app": app}))
    path = "/api/v1/namespaces/default/pods?labelSelector=app%3Dx"
    assert len(client.call("DELETE", path).body["items"]) == 2
    assert list(cluster.api.keys("pods")) == ["default/c"]


def test_server_side_apply_creates_then_changes(cluster: Cluster) -> None:
    pod = make_pod(labels={"a": "1"})
    cluster.api.patch("pods", "default/trainer", pod, kind="apply")
    pod["metadata"]["labels"] = {"a": "2"}
    assert cluster.api.patch("pods", "default/trainer", pod, kind="apply")["metadata"]["labels"] == {"a": "2"}


def test_a_binding_checks_the_uid_and_the_deletion(cluster: Cluster, client: Client) -> None:
    """K4.5-8."""
    cluster.api.create("pods", make_pod())
    path = "/api/v1/namespaces/default/pods/trainer/binding"
    target = {"target": {"kind": "Node", "name": "a100-01"}}
    wrong = client.call("POST", path, {"metadata": {"name": "trainer", "uid": "other"}} | target)
    assert (wrong.status, wrong.body["reason"]) == (409, "Conflict")
    assert (
        client.call("POST", path.replace("trainer", "ghost"), {"metadata": {"name": "ghost"}} | target).status
        == 404
    )
    assert client.call("POST", path, {"metadata": {"name": "trainer"}}).status == 422


def test_what_the_api_returns_is_a_copy(cluster: Cluster) -> None:
    cluster.api.create("pods", gpu_pod())
    cluster.api.get("pods", "default/trainer")["metadata"]["name"] = "changed"
    assert cluster.api.get("pods", "default/trainer")["metadata"]["name"] == "trainer"
