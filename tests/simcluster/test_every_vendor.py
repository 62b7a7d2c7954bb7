"""A node of every vendor's key, on which the product places pods that run and leave nothing behind."""

import pytest

from scheduler_app import vendortable
from simcluster import fleet
from simcluster.cluster import Cluster
from simcluster.fleet import Vendor
from tests.e2e_inprocess.product import SCHEDULER, Json, Product, cluster_for, free_port, phase
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")

KEYS = [row["key"] for row in vendortable.rows()]
WORDS = {
    "amd": "AMD",
    "ascend": "Ascend910B3",
    "awsneuron": "AWSNeuron",
    "biren": "Biren",
    "cambricon": "MLU",
    "enflame": "Enflame",
    "hygon": "DCU",
    "iluvatar": "MR-V100",
    "kunlun": "kunlun",
    "metax": "Metax-GPU",
    "mthreads": "Mthreads",
    "nvidia": "NVIDIA",
    "vastai": "Vastai",
}
MODELS = [(key, model.name) for key in KEYS for model in fleet.vendor(key).models]
CARDS = 8
DEADLINE_SECONDS = 10.0


def test_the_fleet_knows_the_keys_of_the_product_and_no_others() -> None:
    assert sorted(fleet.vendor_names()) == sorted(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_known_in_any_case(key: str) -> None:
    assert fleet.vendor(key.lower()) is fleet.vendor(key.upper()) is fleet.vendor(key)
    assert fleet.vendor(key).name == key


@pytest.mark.parametrize(("word", "key"), WORDS.items())
def test_a_vendors_word_stands_for_its_first_key(word: str, key: str) -> None:
    assert fleet.vendor(word) is fleet.vendor(key)


def test_the_demos_fleet_is_twenty_nodes_of_at_least_five_vendors_most_of_them_nvidia() -> None:
    groups = fleet.parse(fleet.DEMO_FLEET)
    by_vendor: dict[str, int] = {}
    for group in groups:
        name = fleet.vendor(group.vendor).name
        by_vendor[name] = by_vendor.get(name, 0) + group.nodes
    assert sum(by_vendor.values()) == 20
    assert len(by_vendor) >= 5
    assert max(by_vendor, key=lambda name: by_vendor[name]) == "NVIDIA"


@pytest.mark.parametrize(("key", "model"), MODELS)
def test_a_vendors_pods_run_and_leave_nothing_and_its_impossible_ones_wait(key: str, model: str) -> None:
    """K5.1, K5.3: the node's texts are read, the pod's are what the device plugin expects."""
    vendor, port = fleet.vendor(key), free_port()
    with cluster_for(port, fleet=f"{key}/{model}:1x{CARDS}") as cluster, _product(cluster, port) as product:
        product.wait_ready()
        wait_until(lambda: bool(product.parts.state.everything()))
        possible, impossible = _requests(vendor, model)
        assert possible
        assert impossible
        for row in possible:
            _runs_and_leaves(cluster, product, vendor, row)
        for row in impossible:
            _waits(cluster, row)


def _product(cluster: Cluster, port: int) -> Product:
    text = vendortable.CONFIG.read_text(encoding="utf-8")
    flags = {name.replace("-", "_"): True for name in vendortable.all_enabled()}
    return Product(cluster.url, extender_port=port, DEVICE_CONFIG_TEXT=text, **flags)


def _requests(vendor: Vendor, model: str) -> tuple[list[Json], list[Json]]:
    """Return the requests that a node of the model can serve, and those that nothing can."""
    rows = [row for row in vendor.requests if model in (row.get("models") or [model])]
    impossible = [row for row in rows if row.get("impossible")]
    return [row for row in rows if row not in impossible], impossible


def _runs_and_leaves(cluster: Cluster, product: Product, vendor: Vendor, row: Json) -> None:
    name = row["name"]
    created = cluster.api.create("pods", _pod(row))
    assert created["spec"]["schedulerName"] == SCHEDULER
    wait_until(lambda: phase(cluster, name) == "Running", seconds=DEADLINE_SECONDS)
    notes = cluster.api.get("pods", f"default/{name}")["metadata"]["annotations"]
    assert notes[vendor.allocation["allocated"]]
    confirms = vendor.allocation.get("confirms")
    assert not confirms or notes[confirms] == "true"
    wait_until(lambda: _in_use(product) > 0)
    cluster.api.delete("pods", f"default/{name}")
    wait_until(lambda: _in_use(product) == 0 and not product.parts.state.pods())
    lock = vendor.allocation.get("lock")
    (node,) = cluster.api.list("nodes")
    assert lock not in node["metadata"]["annotations"]


def _waits(cluster: Cluster, row: Json) -> None:
    key = f"default/{row['name']}"
    cluster.api.create("pods", _pod(row))
    wait_until(lambda: _was_refused(cluster, key))
    assert not cluster.api.get("pods", key)["spec"].get("nodeName")


def _was_refused(cluster: Cluster, key: str) -> bool:
    conditions = cluster.api.get("pods", key)["status"].get("conditions") or []
    return any(condition.get("reason") == "Unschedulable" for condition in conditions)


def _in_use(product: Product) -> int:
    """Return the sum of all that is counted on all cards: 0 exactly when nothing is in use."""
    nodes = product.parts.state.everything().values()
    cards = [card for node in nodes for card in node.cards]
    return sum(card.shares_used + card.mem_used_mib + card.cores_used for card in cards)


def _pod(row: Json) -> Json:
    """Return a pod with the lowest amounts of a request, that goes as soon as it is deleted."""
    limits = {name: str(spec[0] if isinstance(spec, list) else spec) for name, spec in row["limits"].items()}
    meta = {"name": row["name"], "namespace": "default", "annotations": row.get("annotations") or {}}
    containers = [{"name": "main", "image": "x", "resources": {"limits": limits}}]
    return {"metadata": meta, "spec": {"terminationGracePeriodSeconds": 0, "containers": containers}}
