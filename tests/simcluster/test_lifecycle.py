"""A pod from creation to its end: scheduler, plugins, kubelets together (K5.3-4)."""

from simcluster.cluster import Cluster, Settings
from tests.simcluster.objects import Json, gpu_pod, make_pod
from tests.simcluster.tinyextender import LOCK, TinyExtender
from tests.waiting import wait_until

TO_ALLOCATE, ALLOCATED = "hami.io/vgpu-devices-to-allocate", "hami.io/vgpu-devices-allocated"
PHASE = "hami.io/bind-phase"


def phase_of(cluster: Cluster, key: str) -> str:
    pod = cluster.api.find("pods", key)
    return str(pod["status"]["phase"]) if pod else "gone"


def notes_of(cluster: Cluster, resource: str, key: str) -> dict[str, str]:
    found: dict[str, str] = cluster.api.get(resource, key)["metadata"].get("annotations") or {}
    return found


def decide(cluster: Cluster, text: str, *, node: str = "a100-01", name: str = "trainer") -> None:
    """Write what filter and bind write, then bind."""
    lock = f"2026-01-01T00:00:00Z,default,{name}"
    notes = {TO_ALLOCATE: text, ALLOCATED: text, PHASE: "allocating", "hami.io/bind-time": "1"}
    cluster.api.patch("nodes", node, {"metadata": {"annotations": {LOCK: lock}}})
    notes["hami.io/vgpu-node"] = node
    cluster.api.patch("pods", f"default/{name}", {"metadata": {"annotations": notes}})
    cluster.api.bind(f"default/{name}", node)


def test_a_gpu_pod_is_filtered_bound_allocated_and_runs(scheduled: Cluster) -> None:
    scheduled.api.create("pods", gpu_pod())
    wait_until(lambda: phase_of(scheduled, "default/trainer") == "Running")
    notes = notes_of(scheduled, "pods", "default/trainer")
    assert (notes[PHASE], notes[TO_ALLOCATE]) == ("success", ";")
    assert notes[ALLOCATED].endswith(",NVIDIA,1000,0:;")
    pod = scheduled.api.get("pods", "default/trainer")
    assert LOCK not in notes_of(scheduled, "nodes", pod["spec"]["nodeName"])
    conditions = {row["type"]: row["status"] for row in pod["status"]["conditions"]}
    assert conditions["PodScheduled"] == conditions["Ready"] == "True"
    wait_until(lambda: {"Scheduled", "Started"} <= reasons(scheduled, "trainer"))


def reasons(cluster: Cluster, name: str) -> set[str]:
    return {event["reason"] for event in cluster.api.list("events", fields=f"involvedObject.name={name}")}


def test_two_pods_share_a_node_one_after_the_other(scheduled: Cluster) -> None:
    """K5.2-4: the second bind meets the lock, backs off and comes again."""
    for name in ("one", "two"):
        scheduled.api.create("pods", gpu_pod(name))
    wait_until(lambda: {phase_of(scheduled, f"default/{name}") for name in ("one", "two")} == {"Running"})
    assert {pod["spec"]["nodeName"] for pod in scheduled.api.list("pods")} == {"a100-01"}


def test_a_multi_container_pod_is_allocated_container_by_container(cluster: Cluster) -> None:
    """K5.3-1."""
    pod = gpu_pod()
    container = pod["spec"]["containers"][0]
    pod["spec"]["containers"] = [container, make_pod()["spec"]["containers"][0] | {"name": "side"}]
    pod["spec"]["containers"].append(container | {"name": "third"})
    cluster.api.create("pods", pod)
    decide(cluster, "GPU-1,NVIDIA,1000,0:;;GPU-2,NVIDIA,1000,0:;")
    wait_until(lambda: phase_of(cluster, "default/trainer") == "Running")
    assert notes_of(cluster, "pods", "default/trainer")[TO_ALLOCATE] == ";;;"
    assert LOCK not in notes_of(cluster, "nodes", "a100-01")


def test_a_wrong_number_of_cards_fails_the_pod(cluster: Cluster) -> None:
    """NVP-8, K5.3-2."""
    cluster.api.create("pods", gpu_pod(gpus=2))
    decide(cluster, "GPU-1,NVIDIA,1000,0:;")
    wait_until(lambda: phase_of(cluster, "default/trainer") == "Failed")
    pod = cluster.api.get("pods", "default/trainer")
    assert pod["status"]["reason"] == "UnexpectedAdmissionError"
    assert pod["status"]["message"] == (
        "Pod was rejected: Allocate failed due to device number not matched, which is unexpected"
    )
    assert notes_of(cluster, "pods", "default/trainer")[PHASE] == "failed"
    assert LOCK not in notes_of(cluster, "nodes", "a100-01")


def test_a_pod_nobody_decided_about_fails(cluster: Cluster) -> None:
    cluster.api.create("pods", gpu_pod())
    cluster.api.bind("default/trainer", "a100-01")
    wait_until(lambda: phase_of(cluster, "default/trainer") == "Failed")
    message = cluster.api.get("pods", "default/trainer")["status"]["message"]
    assert "no binding pod found on node a100-01" in message


def test_a_silent_plugin_keeps_pods_waiting(cluster: Cluster) -> None:
    cluster.silence_plugin("a100-01")
    assert cluster.api.get("nodes", "a100-01")["status"]["allocatable"]["nvidia.com/gpu"] == "0"
    assert cluster.api.get("nodes", "a100-01")["status"]["capacity"]["nvidia.com/gpu"] == "20"
    cluster.api.create("pods", gpu_pod())
    decide(cluster, "GPU-1,NVIDIA,1000,0:;")
    wait_until(lambda: bool(cluster.api.get("pods", "default/trainer")["status"].get("containerStatuses")))
    cluster.restore_plugin("a100-01")
    assert cluster.api.get("nodes", "a100-01")["status"]["allocatable"]["nvidia.com/gpu"] == "20"
    wait_until(lambda: phase_of(cluster, "default/trainer") == "Running")


def test_a_sick_card_is_registered_without_health(cluster: Cluster) -> None:
    """K5.1-1, K5.1-2: health false is left out, only allocatable shrinks."""
    cluster.set_card_health("a100-01", 1, healthy=False)
    node = cluster.api.get("nodes", "a100-01")
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "10"
    assert node["metadata"]["annotations"]["hami.io/node-nvidia-register"].count('"health":true') == 1


def test_a_lost_node_takes_its_pods_along(cluster: Cluster) -> None:
    cluster.api.create("pods", make_pod())
    cluster.api.bind("default/trainer", "a100-01")
    cluster.remove_node("a100-01")
    wait_until(lambda: phase_of(cluster, "default/trainer") == "gone")
    assert [node["metadata"]["name"] for node in cluster.api.list("nodes")] == ["l40s-02"]


def test_pods_end_by_themselves() -> None:
    settings = Settings(fleet="nvidia:1x1", workload=False, allocate_seconds=0.0, pod_seconds=(0.01, 0.02))
    with Cluster(settings) as cluster:
        cluster.api.create("pods", make_pod())
        cluster.api.create("pods", make_pod("service", annotations={"simcluster/run-seconds": "600"}))
        for name in ("trainer", "service"):
            cluster.api.bind(f"default/{name}", "a100-01")
        wait_until(lambda: phase_of(cluster, "default/trainer") == "Succeeded")
        wait_until(lambda: phase_of(cluster, "default/service") == "Running")
        states: Json = cluster.api.get("pods", "default/trainer")["status"]["containerStatuses"][0]["state"]
        assert states["terminated"]["reason"] == "Completed"


def test_a_request_that_fits_nowhere_stays_pending_with_its_reasons(scheduled: Cluster) -> None:
    """K1.4-10."""
    scheduled.api.create("pods", gpu_pod(mem_mib=999000))
    wait_until(lambda: "FailedScheduling" in reasons(scheduled, "trainer"))
    (event,) = scheduled.api.list("events", fields="reason=FailedScheduling")
    assert event["message"] == (
        "0/2 nodes are available: 2 CardInsufficientMemory. "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    condition = scheduled.api.get("pods", "default/trainer")["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PodScheduled",
        "False",
        "Unschedulable",
    )


def test_a_pending_pod_is_tried_again_when_the_cluster_changes(scheduled: Cluster) -> None:
    """K1.4-15."""
    for name in ("a100-01", "l40s-02"):
        scheduled.api.patch("nodes", name, {"spec": {"unschedulable": True}})
    scheduled.api.create("pods", gpu_pod())
    wait_until(lambda: "FailedScheduling" in reasons(scheduled, "trainer"))
    scheduled.api.patch("nodes", "l40s-02", {"spec": {"unschedulable": None}})
    wait_until(lambda: phase_of(scheduled, "default/trainer") == "Running")
    assert scheduled.api.get("pods", "default/trainer")["spec"]["nodeName"] == "l40s-02"


def test_an_extenders_error_is_a_scheduler_error(scheduled: Cluster, extender: TinyExtender) -> None:
    """K1.4-6."""
    extender.error = "no devices today"
    scheduled.api.create("pods", gpu_pod())
    wait_until(lambda: "FailedScheduling" in reasons(scheduled, "trainer"))
    condition = scheduled.api.get("pods", "default/trainer")["status"]["conditions"][0]
    assert (condition["reason"], condition["message"]) == ("SchedulerError", "no devices today")
    extender.error = ""
    wait_until(lambda: phase_of(scheduled, "default/trainer") == "Running")


def test_an_unreachable_extender_is_simply_tried_again() -> None:
    settings = Settings(fleet="nvidia:1x1", workload=False, extender_url="http://127.0.0.1:9")
    with Cluster(settings) as cluster:
        cluster.api.create("pods", gpu_pod() | {"kind": "Pod"})
        cluster.api.create("pods", _for_us(gpu_pod("ours")))
        wait_until(lambda: "FailedScheduling" in reasons(cluster, "ours"))
        assert not reasons(cluster, "trainer")


def _for_us(pod: Json) -> Json:
    pod["spec"]["schedulerName"] = "hami-scheduler"
    return pod


def test_a_pod_without_cards_is_bound_without_the_extender(
    scheduled: Cluster, extender: TinyExtender
) -> None:
    """K1.3-1: managedResources."""
    scheduled.api.create("pods", _for_us(make_pod()))
    wait_until(lambda: phase_of(scheduled, "default/trainer") == "Running")
    assert "/filter" not in extender.calls


def test_stopping_twice_is_harmless_and_quick(extender: TinyExtender) -> None:
    settings = Settings(fleet="nvidia:2x2", extender_url=extender.url, webhook_url=extender.url + "/webhook")
    cluster = Cluster(settings)
    extender.cluster = cluster
    cluster.start()
    cluster.stop()
    cluster.stop()
    never_started = Cluster(settings)
    never_started.stop()
