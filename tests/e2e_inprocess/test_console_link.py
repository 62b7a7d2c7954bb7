"""`CONSOLE_URL`: what `kubectl describe pod` shows leads to the console."""

import pytest

from tests.e2e_inprocess.product import Product, cluster_for, free_port, gpu_pod
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")


def test_a_waiting_pod_has_an_event_with_the_address_of_its_page() -> None:
    port, url = free_port(), "https://gpus.example.org"
    with (
        cluster_for(port) as cluster,
        Product(cluster.url, extender_port=port, CONSOLE_URL=url) as product,
    ):
        product.wait_ready()
        cluster.api.create("pods", gpu_pod(mem=10**6))
        wait_until(lambda: any(e["reason"] == "WhyPending" for e in cluster.api.list("events")))
        (event,) = [e for e in cluster.api.list("events") if e["reason"] == "WhyPending"]
        assert event["message"].endswith(f"{url}/pods/default/trainer")
        assert event["message"].startswith("CardInsufficientMemory: ")
        assert event["involvedObject"]["name"] == "trainer"
