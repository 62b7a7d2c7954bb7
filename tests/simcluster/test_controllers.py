import platform
import threading

import pytest

from simcluster import fleet, workload
from simcluster.cluster import Cluster, Settings
from simcluster.fleet import FleetError, Group
from simcluster.quotas import usage
from tests.simcluster.objects import gpu_pod
from tests.simcluster.tinyextender import TinyExtender
from tests.waiting import wait_until

LEASE = "leases"


def test_a_fleet_text_names_vendors_models_nodes_and_cards() -> None:
    assert fleet.parse("NVIDIA:20x8, mthreads:4x8") == [
        Group("nvidia", "", 20, 8),
        Group("mthreads", "", 4, 8),
    ]
    assert fleet.parse("nvidia/T4:1x2") == [Group("nvidia", "t4", 1, 2)]
    assert fleet.parse("") == []


@pytest.mark.parametrize("text", ["nvidia", "nvidia:2", "nvidia:axb"])
def test_a_fleet_text_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(FleetError, match="expected <vendor>"):
        fleet.parse(text)


def test_unknown_vendors_and_models_are_named() -> None:
    with pytest.raises(FleetError, match="unknown vendor 'acme'"):
        fleet.vendor("acme")
    with pytest.raises(FleetError, match="has no model 'h200'"):
        fleet.vendor("nvidia").model("h200")


@pytest.mark.parametrize("name", fleet.vendor_names())
def test_every_vendors_file_makes_a_node(name: str) -> None:
    with Cluster(Settings(fleet=f"{name.upper()}:1x2", workload=False)) as cluster:
        (node,) = cluster.api.list("nodes")
        data = fleet.vendor(name)
        assert int(node["status"]["allocatable"][data.count_resource]) > 0
        key = data.register.get("key")
        assert not key or node["metadata"]["annotations"][key]
        assert all(row["limits"] and row["weight"] > 0 for row in data.requests)


def test_the_register_text_leaves_zero_values_out() -> None:
    """K5.1-2, P-4."""
    nvidia = fleet.vendor("nvidia")
    text = fleet.register_text(nvidia, nvidia.model("A100"), "n", [True, False])
    first, second = text.strip("[]").replace("},{", "}|{").split("|")
    assert '"index"' not in first
    assert '"health":true' in first
    assert '"index":1' in second
    assert "health" not in second
    assert '"devmem":81920,"devcore":100,"type":"NVIDIA-A100-SXM4-80GB"' in first


def test_card_ids_are_the_same_in_every_run() -> None:
    model = fleet.vendor("nvidia").models[0]
    assert fleet.card_id(model, "n", 0) == fleet.card_id(model, "n", 0) != fleet.card_id(model, "n", 1)


def test_the_quota_controller_writes_hard_and_used(cluster: Cluster) -> None:
    """Only what Kubernetes counts has a used figure."""
    hard = {"limits.nvidia.com/gpumem": "64000", "requests.nvidia.com/gpu": 8, "pods": "10"}
    cluster.api.create("resourcequotas", {"metadata": {"name": "gpu"}, "spec": {"hard": hard}})
    cluster.api.create("pods", gpu_pod(gpus=2))

    def status() -> dict[str, object]:
        found: dict[str, object] = cluster.api.get("resourcequotas", "default/gpu").get("status") or {}
        return found

    wait_until(lambda: status().get("used") == {"pods": "1", "requests.nvidia.com/gpu": "2"})
    assert status()["hard"] == {
        "limits.nvidia.com/gpumem": "64k",
        "requests.nvidia.com/gpu": "8",
        "pods": "10",
    }


def test_usage_counts_unfinished_pods() -> None:
    pod = {
        "status": {},
        "spec": {"containers": [{"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]},
    }
    finished = pod | {"status": {"phase": "Succeeded"}}
    counted = usage([pod, pod, finished])
    assert (counted["pods"], counted["requests.cpu"], counted["memory"]) == ("2", "1", "2Gi")


def test_a_lease_is_held_under_the_hosts_name(scheduled: Cluster) -> None:
    """K3.7-6, K3.3-7."""
    wait_until(lambda: scheduled.api.exists(LEASE, "kube-system/hami-scheduler"))
    spec = scheduled.api.get(LEASE, "kube-system/hami-scheduler")["spec"]
    assert spec["holderIdentity"].startswith(platform.node() + "_")
    assert len(spec["renewTime"]) == len("2026-01-01T00:00:00.000000Z")
    wait_until(lambda: scheduled.api.exists(LEASE, "kube-node-lease/a100-01"))


def test_the_workload_fills_the_cluster(extender: TinyExtender) -> None:
    settings = Settings(
        fleet="nvidia:2x4",
        allocate_seconds=0.0,
        extender_url=extender.url,
        webhook_url=extender.url + "/webhook",
    )
    extender.cluster = Cluster(settings)
    with extender.cluster as cluster:
        wait_until(lambda: any(pod["status"]["phase"] == "Running" for pod in cluster.api.list("pods")))
        pods = cluster.api.list("pods", labels="simcluster/job")
        assert pods
        assert {pod["metadata"]["namespace"] for pod in pods} <= {
            namespace["metadata"]["name"] for namespace in cluster.api.list("namespaces", labels="team")
        }
        assert cluster.api.exists("resourcequotas", "team-speech/gpu")


def test_a_settled_cluster_asks_nothing_more_and_still_answers(extender: TinyExtender) -> None:
    """The product ends first; whoever called it then would find nobody."""
    settings = Settings(fleet="nvidia:2x4", extender_url=extender.url, webhook_url=extender.url + "/webhook")
    extender.cluster = Cluster(settings)
    with extender.cluster as cluster:
        wait_until(lambda: bool(cluster.api.list("pods")))
        assert {"simcluster-workload", "simcluster-kubescheduler"} <= threads()
        cluster.settle()
        assert not {"simcluster-workload", "simcluster-kubescheduler"} & threads()
        assert "simcluster-plugins" in threads()
        assert len(cluster.api.list("nodes")) == 2


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def test_the_same_seed_asks_for_the_same_pods() -> None:
    assert _first_pods(3) == _first_pods(3)
    assert _first_pods(3) != _first_pods(4)


def test_teams_give_up_on_pods_that_never_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "_KEEP_PENDING_SECONDS", 0.05)
    with Cluster(Settings(fleet="nvidia:1x1")) as cluster:
        wait_until(lambda: bool(cluster.api.list("pods")))
        first = next(iter(cluster.api.keys("pods")))
        wait_until(lambda: not cluster.api.exists("pods", first))


def _first_pods(seed: int) -> list[object]:
    with Cluster(Settings(fleet="nvidia:2x4", seed=seed)) as cluster:
        wait_until(lambda: len(cluster.api.list("pods")) >= 6)
        pods = sorted(cluster.api.list("pods"), key=lambda pod: int(pod["metadata"]["resourceVersion"]))[:6]
        return [
            (pod["metadata"]["name"], pod["spec"]["containers"][0]["resources"]["limits"]) for pod in pods
        ]


def test_a_plugin_that_answers_the_handshake_overwrites_the_request(cluster: Cluster) -> None:
    """P-13; the NVIDIA plugin of v2.10 does not."""
    asked = {"metadata": {"annotations": {"hami.io/node-handshake": "Requesting_2026-01-01 00:00:00"}}}
    cluster.api.patch("nodes", "a100-01", asked)
    answering = [name for name in fleet.vendor_names() if fleet.vendor(name).handshake.get("replies")]
    for name in answering:
        key = fleet.vendor(name).handshake["key"]
        node = cluster.add_node(name, cards=1)
        cluster.api.patch(
            "nodes", node, {"metadata": {"annotations": {key: "Requesting_2026-01-01 00:00:00"}}}
        )
        wait_until(lambda: "Reported" in cluster.api.get("nodes", node)["metadata"]["annotations"][key])  # noqa: B023
    assert (
        "Requesting"
        in cluster.api.get("nodes", "a100-01")["metadata"]["annotations"]["hami.io/node-handshake"]
    )
