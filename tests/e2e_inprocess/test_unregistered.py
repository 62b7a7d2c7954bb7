"""N16: what `kubectl describe pod` says of nodes that never registered a card."""

import pytest

from tests.e2e_inprocess.product import Product, cluster_for, free_port, gpu_pod
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")
TOLD = "1 nodes node unregistered: no device plugin has registered cards: no register annotation, no capacity"


def test_n16_a_waiting_pod_has_an_event_that_says_why_a_node_has_no_cards() -> None:
    port = free_port()
    with cluster_for(port) as cluster, Product(cluster.url, extender_port=port) as product:
        product.wait_ready()
        status = {
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"cpu": "8", "pods": "9"},
        }
        cluster.api.create("nodes", {"metadata": {"name": "cpu-1"}, "status": status})
        wait_until(lambda: any(node["metadata"]["name"] == "cpu-1" for node in cluster.api.list("nodes")))
        cluster.api.create("pods", gpu_pod(mem=10**6))
        wait_until(lambda: any(e["message"] == f"{TOLD}(cpu-1)" for e in cluster.api.list("events")))
