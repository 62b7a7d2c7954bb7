"""Nodes that fall silent, leave, come back or shrink while pods hold their cards."""

import itertools
import json

import pytest

from dashboard.live.hub import hub
from scheduler_app.core.types import NodeName
from scheduler_app.history import History
from scheduler_app.models import HealthRecord
from simcluster.cluster import Cluster
from tests.dashboard.conftest import empty_hub, sign_in
from tests.e2e_inprocess.onlooker import Onlooker
from tests.e2e_inprocess.product import Json, Product, gpu_pod, phase
from tests.extender.door import GPU, MEM
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")
REGISTER = "hami.io/node-nvidia-register"
HANDSHAKE = "hami.io/node-handshake"
CARD_MIB = 81920


def first(product: Product) -> str:
    return str(sorted(product.parts.state.everything())[0])


def cards(product: Product, node: str) -> int:
    found = product.parts.state.everything()
    return next((len(usage.cards) for name, usage in found.items() if name == node), 0)


def label(product: Product, node: str, key: str) -> str:
    """Return a node's label as the product knows it, so that a test can wait for what it did."""
    found = {str(name): usage.node.labels for name, usage in product.parts.state.everything().items()}
    return found.get(node, {}).get(key, "")


def asked(product: Product, pod: Json, node: str) -> Json:
    return product.post("/filter", {"Pod": pod, "NodeNames": [node]})


def stray_pod(cluster: Cluster, name: str, **asks: int) -> Json:
    """Create a pod that no scheduler asks about, so that the test can."""
    pod = gpu_pod(name, labels={"hami.io/webhook": "ignore"}, **asks)
    pod["spec"]["schedulerName"] = "nobody"
    return cluster.api.create("pods", pod)


def changed_keys(versions: list[dict[str, str]]) -> set[str]:
    steps = itertools.pairwise(versions)
    return {key for old, new in steps for key in old.keys() | new.keys() if old.get(key) != new.get(key)}


def test_n09_of_a_node_that_falls_silent_only_the_handshake_is_removed(
    pair: tuple[Cluster, Product],
) -> None:
    """R-10: whatever versions the node had meanwhile; the register text is the device plugin's own."""
    cluster, product = pair
    name = first(product)

    def notes() -> dict[str, str]:
        found: dict[str, str] = cluster.api.get("nodes", name)["metadata"]["annotations"]
        return found

    wait_until(lambda: "Requesting_" in notes().get(HANDSHAKE, ""))
    with Onlooker(cluster.api, "nodes") as onlooker:
        wait_until(lambda: onlooker.annotations(name) != [])
        cluster.silence_plugin(name)
        wait_until(lambda: any(HANDSHAKE not in version for version in onlooker.annotations(name)))
        wait_until(lambda: cards(product, name) == 0)
        cluster.restore_plugin(name)
        wait_until(lambda: cards(product, name) == 2)
        versions = onlooker.annotations(name)
    assert changed_keys(versions) == {HANDSHAKE}
    assert REGISTER in versions[0]


@pytest.mark.parametrize("fleet", ["nvidia:1x2"])
@pytest.mark.parametrize("cluster_settings", [{"kubelets": False}])
def test_n14_the_pods_of_a_node_that_is_deleted_and_made_again_stay_counted(
    pair: tuple[Cluster, Product],
) -> None:
    """Q-47: without kubelets nobody deletes the pod after its node."""
    cluster, product = pair
    name = first(product)
    cluster.api.create("pods", gpu_pod(mem=CARD_MIB - 1000))
    wait_until(lambda: cluster.api.get("pods", "default/trainer")["spec"].get("nodeName") == name)
    before = cluster.api.get("pods", "default/trainer")
    node = cluster.api.get("nodes", name)
    meta = node["metadata"]
    kept = {REGISTER: meta["annotations"][REGISTER]}
    cluster.api.delete("nodes", name)
    again = {"name": name, "labels": {**meta["labels"], "life": "second"}, "annotations": kept}
    cluster.api.create("nodes", {"metadata": again, "status": node["status"]})
    wait_until(lambda: label(product, name, "life") == "second" and cards(product, name) == 2)
    assert cluster.api.get("pods", "default/trainer") == before
    assert product.used() == CARD_MIB - 1000
    answer = asked(product, stray_pod(cluster, "pair", mem=2000, cards=2), name)
    assert answer["FailedNodes"] == {
        name: "1/2 AllocatedCardsInsufficientRequest, 1/2 CardInsufficientMemory"
    }


def test_f33_a_node_that_left_gpu_sharing_is_refused_and_gets_no_pod(pair: tuple[Cluster, Product]) -> None:
    cluster, product = pair
    name = first(product)
    cluster.api.patch(
        "nodes", name, {"status": {"allocatable": {GPU: "0"}, "capacity": {GPU: "0"}}}, subresource="status"
    )
    cluster.api.patch("nodes", name, {"metadata": {"annotations": {REGISTER: None}}})
    wait_until(lambda: cards(product, name) == 0)
    answer = asked(product, stray_pod(cluster, "stray"), name)
    assert answer["FailedNodes"] == {name: "node unregistered"}
    for number in range(4):
        cluster.api.create("pods", gpu_pod(f"p{number}"))
    wait_until(lambda: {phase(cluster, f"p{number}") for number in range(4)} == {"Running"})
    nodes = {cluster.api.get("pods", f"default/p{number}")["spec"]["nodeName"] for number in range(4)}
    assert name not in nodes


@pytest.mark.parametrize("fleet", ["nvidia:1x8"])
def test_f36_what_is_left_of_a_node_that_shrank_stays_full_after_an_unrelated_update(
    pair: tuple[Cluster, Product],
) -> None:
    """Eight cards are in use, the register text lists six, then somebody sets a label.

    The two that are no longer listed go on counting where it can be said: against the namespace's quota.
    """
    cluster, product = pair
    name = first(product)
    cluster.api.create("pods", gpu_pod("full", mem=CARD_MIB, cards=8))
    wait_until(lambda: phase(cluster, "full") == "Running")
    listed = json.loads(cluster.api.get("nodes", name)["metadata"]["annotations"][REGISTER])
    cluster.api.patch("nodes", name, {"metadata": {"annotations": {REGISTER: json.dumps(listed[:6])}}})
    wait_until(lambda: cards(product, name) == 6)
    cluster.api.patch("nodes", name, {"metadata": {"labels": {"team": "vision"}}})
    wait_until(lambda: label(product, name, "team") == "vision")
    answer = asked(product, stray_pod(cluster, "next", mem=1), name)
    assert answer["FailedNodes"] == {name: "6/6 CardInsufficientMemory"}
    assert product.used() == 6 * CARD_MIB
    assert product.parts.state.quotas()["default"].entries[MEM].used == 8 * CARD_MIB


@pytest.mark.django_db
def test_n18_the_console_has_the_history_of_a_card_that_failed_and_recovered(
    pair: tuple[Cluster, Product],
) -> None:
    """The history thread is not among the threads here: the test writes in its place."""
    cluster, product = pair
    name, history = first(product), product.parts.history
    card = product.parts.state.everything()[NodeName(name)].cards[1].card.id
    for rows, healthy in enumerate((False, True), start=1):
        cluster.set_card_health(name, 1, healthy=healthy)
        wait_written(history, name, rows=rows)
    assert history.problem == ""
    told = asked_of_console(product, f"/api/v1/nodes/{name}")["health"]
    assert [(row["gpu_id"], row["index"], row["healthy"]) for row in told] == [
        (card, 1, True),
        (card, 1, False),
    ]
    assert 0 < told[1]["at"] <= told[0]["at"]


def wait_written(history: History, node: str, *, rows: int) -> None:
    """Write what there is to write until so many changes of a node's cards are known."""

    def is_known() -> bool:
        history.write_once()
        return HealthRecord.objects.filter(node=node).count() == rows

    wait_until(is_known)


def asked_of_console(product: Product, path: str) -> Json:
    """Return what REST says to somebody who sees the whole cluster."""
    hub.receive(product.parts.publisher.whole())
    try:
        found: Json = sign_in("alice", "cluster").get(path).json()
    finally:
        empty_hub()
    return found
