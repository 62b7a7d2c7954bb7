"""The product lives with the rights of the reference's chart, and asks for none that we do not document."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from simcluster.cluster import Cluster
from simcluster.faults import Effect
from tests.e2e_inprocess.product import Json, Product, cluster_for, free_port, gpu_pod, phase
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")
Rights = dict[str, set[str]]
OPERATIONS = Path(__file__).resolve().parents[2] / "docs/operations.md"
CHART: Rights = {
    "pods": {"get", "list", "watch", "patch"},
    "pods/binding": {"create"},
    "nodes": {"get", "list", "watch", "patch"},
    "events": {"create", "get", "list"},
    "resourcequotas": {"get", "list", "watch"},
    "leases": {"get", "list", "watch"},
}
SYSTEM, ROLE = "kube-system", "hami.io/scheduler-role"
CARD_MIB = 81920


@dataclass
class Guard:
    """Stands where the API server looks up faults: refuses what was not granted and remembers what came."""

    rights: Rights
    asked: set[tuple[str, str]] = field(default_factory=set)
    refused: set[tuple[str, str]] = field(default_factory=set)

    def effect(self, verb: str, resource: str, text: str) -> Effect:
        self.asked.add((resource, verb))
        is_elsewhere = resource == "leases" and f"/namespaces/{SYSTEM}/" not in text
        if verb in self.rights.get(resource, set()) and not is_elsewhere:
            return Effect()
        self.refused.add((resource, verb))
        return Effect(code=403)


def documented() -> Rights:
    """Return the rights that docs/operations.md says we need."""
    text = OPERATIONS.read_text(encoding="utf-8")
    table = text.partition("## Rights in the cluster")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z/]+)[^|]* \| ([a-z, ]+) \|", table, re.MULTILINE)
    return {resource: set(verbs.split(", ")) for resource, verbs in rows if resource != "object"}


@pytest.fixture
def guard(request: pytest.FixtureRequest) -> Guard:
    return Guard(request.param)


@pytest.fixture
def guarded(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Yield a cluster with the product as the leader on it, which may do what ``guard`` lets it."""
    port = free_port()
    with cluster_for(port, fleet="nvidia:1x1", lease=(SYSTEM, "hami")) as cluster:
        monkeypatch.setattr(cluster.faults, "effect", guard.effect)
        cluster.faults.delay(0)  # while no fault is set nobody looks
        election = {"leader_elect_resource_name": "hami", "leader_elect_resource_namespace": SYSTEM}
        names = {"POD_NAME": "scheduler-0", "POD_NAMESPACE": SYSTEM}
        cluster.api.create("pods", scheduler_pod())
        with Product(cluster.url, extender_port=port, leader_elect=True, **election, **names) as product:
            product.wait_ready()
            yield cluster


def scheduler_pod() -> Json:
    labels = {"app.kubernetes.io/component": "hami-scheduler"}
    meta = {"name": "scheduler-0", "namespace": SYSTEM, "labels": labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "main", "image": "x"}]}}


def labels_of(cluster: Cluster, resource: str, key: str) -> dict[str, str]:
    found: dict[str, str] = cluster.api.get(resource, key)["metadata"].get("labels") or {}
    return found


def live_through_everything(cluster: Cluster, guard: Guard) -> None:
    """Label the leader, place and bind a pod, refuse one twice, which counts its Events up, and place it."""
    wait_until(lambda: labels_of(cluster, "pods", f"{SYSTEM}/scheduler-0").get(ROLE) == "leader")
    hard = {"limits.nvidia.com/gpumem": "200000"}
    quota = {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": hard}}
    cluster.api.create("resourcequotas", quota)
    cluster.api.create("pods", gpu_pod("first", mem=CARD_MIB))
    wait_until(lambda: phase(cluster, "first") == "Running")
    cluster.api.create("pods", gpu_pod("second", mem=CARD_MIB))
    wait_until(lambda: any("do not meet" in event["message"] for event in cluster.api.list("events")))
    cluster.api.patch("nodes", "a100-01", {"metadata": {"labels": {"touched": "true"}}})
    wait_until(lambda: ("events", "patch") in guard.asked)
    cluster.api.delete("pods", "default/first", grace_seconds=0)
    wait_until(lambda: phase(cluster, "second") == "Running")


@pytest.mark.parametrize("guard", [CHART], indirect=True, ids=["chart"])
def test_the_rights_of_the_references_chart_are_enough(guarded: Cluster, guard: Guard) -> None:
    """CFG-15: nothing else is asked but to count an Event up, which is then created afresh (Q-35)."""
    live_through_everything(guarded, guard)
    assert guard.refused == {("events", "patch")}


@pytest.mark.parametrize("guard", [documented()], indirect=True, ids=["documented"])
def test_what_is_documented_is_what_is_used(guarded: Cluster, guard: Guard) -> None:
    """CFG-15: nothing is asked that is not in the table, and of every object in the table something."""
    live_through_everything(guarded, guard)
    assert guard.refused == set()
    assert {resource for resource, _ in guard.asked} == set(guard.rights)
