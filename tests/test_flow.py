"""One pod from its creation to its end, through every part of the product, over real HTTP."""

import pytest

from tests.e2e_inprocess.product import SCHEDULER, Product, cluster_for, free_port, gpu_pod, phase
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")


def test_a_pod_is_admitted_placed_bound_allocated_runs_and_leaves_nothing() -> None:
    port = free_port()
    with cluster_for(port) as cluster, Product(cluster.url, extender_port=port) as product:
        product.wait_ready()
        created = cluster.api.create("pods", gpu_pod())
        assert created["spec"]["schedulerName"] == SCHEDULER  # the webhook made it ours
        wait_until(lambda: phase(cluster) == "Running")
        pod = cluster.api.get("pods", "default/trainer")
        notes, node = pod["metadata"]["annotations"], pod["spec"]["nodeName"]
        assert notes["hami.io/vgpu-node"] == pod["metadata"]["labels"]["hami.io/vgpu-node"] == node
        assert notes["hami.io/vgpu-devices-allocated"].endswith(",NVIDIA,1000,0:;")
        assert notes["hami.io/bind-phase"] == "success"
        assert product.used() == 1000
        assert product.parts.state.quota("default").entries["nvidia.com/gpumem"].used == 1000
        status, metrics = product.get("/metrics", port=product.metrics_port)
        assert status == 200
        assert f'node="{node}",pod="trainer",zone="vGPU"}} 1.048576e+09' in metrics
        wait_until(lambda: "FilteringSucceed" in reasons(cluster) and "BindingSucceed" in reasons(cluster))
        cluster.api.delete("pods", "default/trainer")
        wait_until(lambda: product.used() == 0)
        assert product.parts.state.pods() == ()
        assert product.parts.board.waiting() == ()
        lock = "hami.io/mutex.lock"
        wait_until(lambda: lock not in cluster.api.get("nodes", node)["metadata"]["annotations"])


def reasons(cluster: object) -> set[str]:
    events = cluster.api.list("events", fields="involvedObject.name=trainer")  # type: ignore[attr-defined]  # a Cluster
    return {event["reason"] for event in events}
