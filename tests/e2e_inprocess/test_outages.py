"""What breaks around the product, and how it goes on: the API server, watches, odd objects."""

import json
from typing import Any

import pytest

from simcluster.cluster import Cluster
from tests.e2e_inprocess.product import Product, cluster_for, free_port, gpu_pod, phase
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")
REGISTER = "hami.io/node-nvidia-register"


def cards(product: Product, node: str) -> int:
    found = product.parts.state.everything()
    return next((len(usage.cards) for name, usage in found.items() if name == node), 0)


def test_without_an_api_server_it_says_so_and_recovers_when_there_is_one() -> None:
    """I06: readiness tells why; nothing has to be restarted."""
    port, api_port = free_port(), free_port()
    with Product(f"http://127.0.0.1:{api_port}", extender_port=port) as product:
        assert product.get("/readyz") == (503, "not synced: no registration pass has ended yet\n")
        assert product.get("/healthz")[0] == 200
        with cluster_for(port, port=api_port) as cluster:
            product.wait_ready()
            cluster.api.create("pods", gpu_pod())
            wait_until(lambda: phase(cluster) == "Running")


@pytest.mark.parametrize("fault", ["cut_watches", "gone"])
def test_f10_what_happened_in_a_watch_gap_is_caught_up(pair: tuple[Cluster, Product], fault: str) -> None:
    """I01, I08: the deletion fell into the gap."""
    cluster, product = pair
    cluster.api.create("pods", gpu_pod())
    wait_until(lambda: phase(cluster) == "Running" and product.used() == 1000)
    cluster.faults.fail(verb="watch", code=0, times=4)
    getattr(cluster.faults, fault)()
    cluster.api.delete("pods", "default/trainer", grace_seconds=0)
    wait_until(lambda: product.used() == 0)


def test_i08_a_pod_that_is_placed_and_deleted_in_a_watch_gap_holds_nothing_afterwards() -> None:
    """Neither its coming nor its going is ever told, so the list has to say that it is not there."""
    port = free_port()
    with (
        cluster_for(port, kubescheduler=False) as cluster,
        Product(cluster.url, extender_port=port) as product,
    ):
        product.wait_ready()
        cluster.faults.fail(verb="list", resource="pods")
        cluster.faults.gone()
        created = cluster.api.create("pods", gpu_pod())
        names = sorted(product.parts.state.everything())
        assert product.post("/filter", {"Pod": created, "NodeNames": names})["Error"] == ""
        cluster.api.delete("pods", "default/trainer", grace_seconds=0)
        assert product.used() == 1000
        cluster.faults.clear()
        wait_until(lambda: product.used() == 0)


def test_q_50_a_malformed_node_is_skipped_with_a_line_and_an_event(
    pair: tuple[Cluster, Product], caplog: pytest.LogCaptureFixture
) -> None:
    cluster, product = pair
    name = sorted(product.parts.state.everything())[0]
    bad: dict[str, Any] = {"metadata": {"name": "odd", "annotations": {REGISTER: "[null]"}}}
    cluster.api.create("nodes", {**bad, "status": {"allocatable": {"nvidia.com/gpu": "8"}}})
    wait_until(lambda: "registration skipped node=odd vendor=NVIDIA" in caplog.text)
    wait_until(lambda: "RegistrationFailed" in {event["reason"] for event in cluster.api.list("events")})
    assert cards(product, name) == 2
    assert cards(product, "odd") == 0


def test_f13_a_malformed_pod_is_skipped_with_a_line_and_an_event(
    pair: tuple[Cluster, Product], caplog: pytest.LogCaptureFixture
) -> None:
    cluster, product = pair
    raw = gpu_pod("odd", labels={"hami.io/webhook": "ignore"})
    raw["spec"]["schedulerName"] = "nobody"
    raw["metadata"]["annotations"] = {
        "hami.io/vgpu-node": "a100-01",
        "hami.io/vgpu-devices-allocated": "GPU-a,NVIDIA,x,0:;",
    }
    cluster.api.create("pods", raw)
    wait_until(lambda: "pod skipped pod=default/odd" in caplog.text)
    wait_until(lambda: "AnnotationInvalid" in {event["reason"] for event in cluster.api.list("events")})
    cluster.api.create("pods", gpu_pod())
    wait_until(lambda: phase(cluster) == "Running")
    assert product.used() == 1000


def test_l06_f17_a_bind_that_fails_is_tried_again_and_nothing_leaks(pair: tuple[Cluster, Product]) -> None:
    cluster, product = pair
    cluster.faults.fail(verb="create", resource="pods/binding", code=500, times=1)
    cluster.api.create("pods", gpu_pod())
    wait_until(lambda: phase(cluster) == "Running")
    assert product.used() == 1000


def test_q07_a_decision_that_cannot_be_written_is_undone(pair: tuple[Cluster, Product]) -> None:
    cluster, product = pair
    cluster.faults.fail(verb="patch", resource="pods", contains="vgpu-node", code=403)
    answer = product.post(
        "/filter",
        {"Pod": {**gpu_pod("ghost"), "metadata": {"name": "ghost", "namespace": "default", "uid": "g"}}}
        | {"NodeNames": sorted(product.parts.state.everything())},
    )
    assert "simulated fault 403" in answer["Error"]
    assert product.used() == 0


def test_n08_a_plugin_that_dies_takes_its_cards_away_and_brings_them_back(
    pair: tuple[Cluster, Product],
) -> None:
    cluster, product = pair
    name = sorted(product.parts.state.everything())[0]
    cluster.silence_plugin(name)
    wait_until(lambda: cards(product, name) == 0)
    cluster.restore_plugin(name)
    wait_until(lambda: cards(product, name) == 2)


def test_n18_a_card_fails_and_recovers(pair: tuple[Cluster, Product]) -> None:
    cluster, product = pair
    name = sorted(product.parts.state.everything())[0]

    def healthy() -> list[bool]:
        return [card.healthy for card in product.parts.state.everything()[name].cards]

    cluster.set_card_health(name, 0, healthy=False)
    wait_until(lambda: healthy() == [False, True])
    cluster.set_card_health(name, 0, healthy=True)
    wait_until(lambda: healthy() == [True, True])


def test_n17_a_cordoned_card_is_avoided_at_once(pair: tuple[Cluster, Product]) -> None:
    cluster, product = pair
    for name, usage in product.parts.state.everything().items():
        ids = ",".join(card.id for card in usage.cards)
        cluster.api.patch("nodes", name, {"metadata": {"annotations": {"hami.io/device-cordon": ids}}})
    wait_until(
        lambda: all(
            "hami.io/device-cordon" in usage.node.annotations
            for usage in product.parts.state.everything().values()
        )
    )
    body = {"Pod": gpu_pod("p"), "NodeNames": sorted(product.parts.state.everything())}
    failed = json.loads(product.call("POST", "/filter", body)[1])["FailedNodes"]
    assert set(failed.values()) == {"2/2 CardCordoned"}


def test_q_36_a_deleted_node_leaves(pair: tuple[Cluster, Product]) -> None:
    cluster, product = pair
    name = sorted(product.parts.state.everything())[0]
    cluster.remove_node(name)
    wait_until(lambda: name not in product.parts.state.everything())


def test_l10_many_pods_for_one_node_all_run(pair: tuple[Cluster, Product]) -> None:
    """L14: binds take turns instead of failing."""
    cluster, product = pair
    for number in range(12):
        cluster.api.create("pods", gpu_pod(f"p{number}", mem=100))
    wait_until(lambda: {phase(cluster, f"p{number}") for number in range(12)} == {"Running"})
    assert product.used() == 1200
