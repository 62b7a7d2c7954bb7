"""How the device plugins of different vendors hand out what was decided, and what they clear away."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from simcluster import allocation, fleet
from simcluster.allocation import AllocateError
from simcluster.api import Api
from simcluster.cluster import Cluster, Settings
from simcluster.verbs import Verbs
from tests.simcluster.objects import Json, make_pod

NVIDIA, NEURON = fleet.vendor("nvidia"), fleet.vendor("awsneuron")
MLU, MTHREADS = fleet.vendor("mlu"), fleet.vendor("mthreads")
MLU_LOCK, MUTEX = "cambricon.com/dsmlu.lock", "hami.io/mutex.lock"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a node of each of four vendors and nobody who acts by himself."""
    fleet_text = "nvidia/a100-mig:1x2,awsneuron:1x2,mlu:1x2,mthreads:1x2"
    with Cluster(Settings(fleet=fleet_text, workload=False, kubelets=False)) as running:
        yield running


def bound(cluster: Cluster, name: str, node: str, notes: dict[str, str], *, resource: str) -> Json:
    """Create a pod for one card, with annotations of filter and bind, on a node."""
    pod = make_pod(name, limits={resource: 1}, annotations=notes)
    cluster.api.create("pods", pod)
    cluster.api.bind(f"default/{name}", node)
    return cluster.api.get("pods", f"default/{name}")


def notes_of(cluster: Cluster, key: str, resource: str = "pods") -> dict[str, str]:
    found: dict[str, str] = cluster.api.get(resource, key)["metadata"].get("annotations") or {}
    return found


def lock(cluster: Cluster, node: str, notes: dict[str, str]) -> None:
    cluster.api.patch("nodes", node, {"metadata": {"annotations": notes}})


def test_every_pod_is_confirmed_though_the_plugin_takes_another_first(cluster: Cluster) -> None:
    """NEU-8: no lock says which pod is meant, and the other one may run already."""
    pods = [
        bound(cluster, name, "inf2-02", {"NEURON_ALLOCATED": "false"}, resource="aws.amazon.com/neuron")
        for name in ("beta", "alpha")
    ]
    for pod in pods:
        allocation.allocate(cluster.api, NEURON, pod, "inf2-02")
        running = {"status": {"phase": "Running"}}
        cluster.api.patch("pods", f"default/{pod['metadata']['name']}", running, subresource="status")
    assert {notes_of(cluster, f"default/{name}")["NEURON_ALLOCATED"] for name in ("alpha", "beta")} == {
        "true"
    }
    with pytest.raises(AllocateError, match="no pod with NEURON_ALLOCATED=false found on node inf2-02"):
        allocation.allocate(cluster.api, NEURON, pods[0], "inf2-02")


def test_the_lock_of_mlu_names_nobody_and_goes_with_the_pod_confirmed(cluster: Cluster) -> None:
    """MLU-30, MLU-51."""
    lock(cluster, "mlu370-03", {MLU_LOCK: "2026-01-01T00:00:00Z"})
    notes = {"CAMBRICON_DSMLU_ASSIGNED": "false", "CAMBRICON_DSMLU_PROFILE": "0_10_16"}
    pod = bound(cluster, "trainer", "mlu370-03", notes, resource="cambricon.com/vmlu")
    allocation.allocate(cluster.api, MLU, pod, "mlu370-03")
    assert notes_of(cluster, "default/trainer")["CAMBRICON_DSMLU_ASSIGNED"] == "true"
    assert MLU_LOCK not in notes_of(cluster, "mlu370-03", "nodes")


def test_a_plugin_that_writes_nothing_writes_nothing(cluster: Cluster) -> None:
    """MT-41: the pod is told by the scheduler alone."""
    notes = {"hami.io/mthreads-vgpu-devices-allocated": "s4000-04-mthreads-0,Mthreads,49152,16:;"}
    pod = bound(cluster, "trainer", "s4000-04", notes, resource="mthreads.com/vgpu")
    allocation.allocate(cluster.api, MTHREADS, pod, "s4000-04")
    assert cluster.api.get("pods", "default/trainer") == pod


def test_reserved_parts_of_a_card_get_the_identity_of_what_was_made(cluster: Cluster) -> None:
    """NVP-9, P-12."""
    reservation = {"containerIndex": 0, "deviceIndex": 0, "gpuUUID": "GPU-1", "profile": "1g.10gb"}
    reservation |= {"placement": {"start": 6, "size": 1}}
    text = "GPU-1,NVIDIA,9728,15:;"
    notes = {
        "hami.io/vgpu-devices-to-allocate": text,
        "hami.io/vgpu-mig-allocations": json.dumps([reservation]),
    }
    lock(cluster, "a100-mig-01", {MUTEX: "2026-01-01T00:00:00Z,default,trainer"})
    pod = bound(cluster, "trainer", "a100-mig-01", notes, resource="nvidia.com/gpu")
    allocation.allocate(cluster.api, NVIDIA, pod, "a100-mig-01")
    (row,) = json.loads(notes_of(cluster, "default/trainer")["hami.io/vgpu-mig-allocations"])
    assert row["migUUID"].startswith("MIG-")
    assert (row["gpuInstanceID"], row["computeInstanceID"]) == (7, 0)
    assert MUTEX not in notes_of(cluster, "a100-mig-01", "nodes")


def test_f18_the_holder_of_the_lock_is_served_whoever_else_waits(cluster: Cluster) -> None:
    """P-14: the older pod restarts while the newer one allocates; its own devices stay to be handed out."""
    for name, card in (("a-older", "GPU-1"), ("b-newer", "GPU-2")):
        notes = {
            "hami.io/vgpu-node": "a100-mig-01",
            "hami.io/vgpu-devices-to-allocate": f"{card},NVIDIA,9728,15:;",
            "hami.io/bind-phase": "allocating",
            "hami.io/bind-time": "1767366245",
        }
        bound(cluster, name, "a100-mig-01", notes, resource="nvidia.com/gpu")
    lock(cluster, "a100-mig-01", {MUTEX: "2026-01-01T00:00:00Z,default,b-newer"})
    restarting = cluster.api.get("pods", "default/a-older")
    allocation.allocate(cluster.api, NVIDIA, restarting, "a100-mig-01")
    newer, older = notes_of(cluster, "default/b-newer"), notes_of(cluster, "default/a-older")
    assert newer["hami.io/bind-phase"] == "success"
    assert "GPU-2" not in newer["hami.io/vgpu-devices-to-allocate"]
    assert older["hami.io/bind-phase"] == "allocating"
    assert older["hami.io/vgpu-devices-to-allocate"] == "GPU-1,NVIDIA,9728,15:;"
    assert MUTEX not in notes_of(cluster, "a100-mig-01", "nodes")


def test_a_pod_that_asks_for_memory_alone_asks_for_cards() -> None:
    """ENF-4: Enflame's pods may name no number of slices."""
    enflame = fleet.vendor("enflame")
    pod = {"spec": {"containers": [{"resources": {"limits": {"enflame.com/gcu-memory": "10"}}}]}}
    assert allocation.asks_for(enflame, pod)
    assert not allocation.asks_for(NVIDIA, pod)


class Watched(Api):
    """Remembers what is written while it is used."""

    def __init__(self, verbs: Verbs) -> None:
        super().__init__(verbs)
        self.written: list[tuple[str, dict[str, str | None]]] = []

    def patch(self, resource: str, key: str, patch: Any, **options: Any) -> Json:
        self.written.append((resource, patch["metadata"]["annotations"]))
        return super().patch(resource, key, patch, **options)


def test_phase_and_lock_follow_the_last_container(cluster: Cluster) -> None:
    """NVP-8, K5.3-1: each call blanks the first segment that has cards, init containers first."""
    to_allocate, phase = "hami.io/vgpu-devices-to-allocate", "hami.io/bind-phase"
    init, app = "GPU-1,NVIDIA,1000,0:", "GPU-2,NVIDIA,2000,0:"
    lock(cluster, "a100-mig-01", {MUTEX: "2026-01-01T00:00:00Z,default,trainer"})
    body = make_pod("trainer", limits={"nvidia.com/gpu": 1}, annotations={to_allocate: f"{init};{app};"})
    body["spec"]["initContainers"] = [{**body["spec"]["containers"][0], "name": "init"}]
    cluster.api.create("pods", body)
    api = Watched(cluster.api.verbs)
    allocation.allocate(api, NVIDIA, api.get("pods", "default/trainer"), "a100-mig-01")
    assert api.written == [
        ("pods", {to_allocate: f";{app};"}),
        ("pods", {to_allocate: ";;"}),
        ("pods", {phase: "success"}),
        ("nodes", {MUTEX: None}),
    ]
