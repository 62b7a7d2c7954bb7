"""The real kubectl against the embedded cluster (K4.7-1)."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from simcluster.cluster import Cluster
from tests.simcluster.objects import gpu_pod, make_pod
from tests.waiting import wait_until

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "gpu-pod.yaml"

Kubectl = Callable[..., str]


def command(cluster: Cluster, home: Path) -> list[str]:
    """Return the start of a kubectl call that knows only this cluster."""
    program = shutil.which("kubectl")
    if program is None:
        if os.environ.get("HAMI_REQUIRE_ALL") == "1":
            pytest.fail("kubectl is not on the PATH, and HAMI_REQUIRE_ALL asks for it")
        pytest.skip("kubectl is not on the PATH")
    config = home / "kubeconfig"
    config.write_text(cluster.kubeconfig(), encoding="utf-8")
    return [program, "--kubeconfig", str(config), "--cache-dir", str(home / "cache")]


@pytest.fixture
def kubectl(scheduled: Cluster, tmp_path: Path) -> Kubectl:
    start = command(scheduled, tmp_path)

    def run(*arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            [*start, *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=30
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run


def test_nodes_and_pods_of_all_namespaces_are_printed(scheduled: Cluster, kubectl: Kubectl) -> None:
    scheduled.api.create("pods", make_pod())
    out = kubectl("get", "nodes,pods", "-A")
    assert "node/a100-01   Ready" in out
    assert "pod/trainer" in out
    assert "INTERNAL-IP" in kubectl("get", "nodes", "-o", "wide")
    assert kubectl("get", "nodes", "-o", "name").split() == ["node/a100-01", "node/l40s-02"]


def test_the_example_is_applied_described_and_deleted(scheduled: Cluster, kubectl: Kubectl) -> None:
    out = kubectl("apply", "-f", str(EXAMPLE))
    assert "pod/gpu-pod created" in out
    assert "Warning: tiny" in out
    wait_until(lambda: scheduled.api.get("pods", "default/gpu-pod")["status"]["phase"] == "Running")
    assert "pod/gpu-pod" in kubectl("apply", "-f", str(EXAMPLE))
    described = kubectl("describe", "pod", "gpu-pod")
    assert "Successfully assigned default/gpu-pod to a100-01" in described
    assert "hami.io/vgpu-devices-allocated" in described
    assert "nvidia.com/gpumem:    8k" in described
    events = kubectl("get", "events")
    assert "Scheduled" in events
    assert "pod/gpu-pod" in events
    assert 'pod "gpu-pod" deleted' in kubectl("delete", "pod", "gpu-pod")
    assert not scheduled.api.exists("pods", "default/gpu-pod")


def test_quotas_leases_and_namespaces_have_their_columns(scheduled: Cluster, kubectl: Kubectl) -> None:
    hard = {"limits.nvidia.com/gpumem": "64000", "pods": "10"}
    scheduled.api.create("resourcequotas", {"metadata": {"name": "gpu"}, "spec": {"hard": hard}})
    wait_until(lambda: "status" in scheduled.api.get("resourcequotas", "default/gpu"))
    quota = kubectl("get", "resourcequota")
    assert "pods: 0/10" in quota
    assert "limits.nvidia.com/gpumem: 0/64k" in quota
    wait_until(lambda: scheduled.api.exists("leases", "kube-system/hami-scheduler"))
    assert "HOLDER" in kubectl("get", "leases", "-n", "kube-system")
    assert "Active" in kubectl("get", "namespaces")


def test_labels_taints_and_cordons_are_patches(scheduled: Cluster, kubectl: Kubectl) -> None:
    kubectl("label", "node", "a100-01", "team=vision")
    kubectl("annotate", "node", "a100-01", "hami.io/device-cordon=GPU-1")
    kubectl("taint", "node", "a100-01", "dedicated=gpu:NoSchedule")
    kubectl("cordon", "a100-01")
    node = scheduled.api.get("nodes", "a100-01")
    assert node["metadata"]["labels"]["team"] == "vision"
    assert node["metadata"]["annotations"]["hami.io/device-cordon"] == "GPU-1"
    assert {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"} in node["spec"]["taints"]
    assert "SchedulingDisabled" in kubectl("get", "node", "a100-01")
    kubectl("uncordon", "a100-01")
    assert "unschedulable" not in scheduled.api.get("nodes", "a100-01")["spec"]


def test_server_side_apply_diff_and_explanations_of_nodes_work(kubectl: Kubectl) -> None:
    assert "serverside-applied" in kubectl("apply", "--server-side", "-f", str(EXAMPLE))
    assert "Allocatable:" in kubectl("describe", "node", "a100-01")
    assert "pods" in kubectl("api-resources")
    assert "gpu-pod" in kubectl("get", "all")


def test_a_watch_prints_what_comes(scheduled: Cluster, tmp_path: Path) -> None:
    start = command(scheduled, tmp_path)
    printed = tmp_path / "out"
    with printed.open("w", encoding="utf-8") as out:
        process = subprocess.Popen([*start, "get", "pods", "--watch", "--no-headers"], stdout=out)
        try:
            scheduled.api.create("pods", gpu_pod())
            wait_until(lambda: "Running" in printed.read_text(encoding="utf-8"))
        finally:
            process.terminate()
            process.wait(5)
    lines = printed.read_text(encoding="utf-8").splitlines()
    assert lines[-1].split()[:3] == ["trainer", "1/1", "Running"]
