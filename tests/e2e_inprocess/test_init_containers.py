"""What a pod with init containers and sidecars counts for before and after they end (F04, F05)."""

import pytest

from simcluster.cluster import Cluster
from tests.e2e_inprocess.product import Json, Product, gpu_pod, phase
from tests.extender.door import GPU, MEM
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")


@pytest.fixture
def fleet() -> str:
    return "nvidia:1x1"


def with_init(pod: Json, *init: Json) -> Json:
    return {**pod, "spec": {**pod["spec"], "initContainers": list(init)}}


def container(name: str, mem: int, **more: str) -> Json:
    return {"name": name, "image": "x", "resources": {"limits": {GPU: "1", MEM: str(mem)}}, **more}


def init_status(cluster: Cluster, **states: Json) -> None:
    """Report init containers as kubelet does."""
    statuses = [{"name": name, "state": state} for name, state in states.items()]
    body = {"status": {"initContainerStatuses": statuses}}
    cluster.api.patch("pods", "default/trainer", body, subresource="status")


ENDED: Json = {"terminated": {"exitCode": 0}}


def test_f04_a_pod_counts_less_once_its_init_container_has_ended(pair: tuple[Cluster, Product]) -> None:
    """M-12, M-13: the larger of both at first, what runs afterwards."""
    cluster, product = pair
    cluster.api.create("pods", with_init(gpu_pod(mem=6000), container("load", 10000)))
    wait_until(lambda: phase(cluster) == "Running")
    assert product.used() == 10000
    init_status(cluster, load={"running": {}})
    init_status(cluster, load=ENDED)
    wait_until(lambda: product.used() == 6000)


def test_f05_a_sidecar_counts_before_and_after(pair: tuple[Cluster, Product]) -> None:
    """Q-23: 4000 beside an init container of 5000 and an app container of 6000."""
    cluster, product = pair
    sidecar = container("proxy", 4000, restartPolicy="Always")
    cluster.api.create("pods", with_init(gpu_pod(mem=6000), sidecar, container("load", 5000)))
    wait_until(lambda: phase(cluster) == "Running")
    assert product.used() == 10000
    init_status(cluster, proxy={"running": {}}, load=ENDED)
    cluster.api.create("pods", gpu_pod("later", mem=1))
    wait_until(lambda: phase(cluster, "later") == "Running")
    assert product.used() == 10001
