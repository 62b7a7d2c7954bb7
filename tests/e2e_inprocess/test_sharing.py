"""Pods that compete for cards, seen from outside: who gets one, who waits, and what it is told."""

import pytest

from simcluster.cluster import Cluster
from tests.e2e_inprocess.onlooker import ALLOCATED, Onlooker, ids_in
from tests.e2e_inprocess.product import Json, Product, gpu_pod, phase
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("unset")
LOCK = "hami.io/mutex.lock"
CARD_MIB = 81920


@pytest.fixture
def fleet() -> str:
    return "nvidia:1x1"


def with_priority(pod: Json, priority: int) -> Json:
    return {**pod, "spec": {**pod["spec"], "priority": priority}}


def notes(cluster: Cluster, name: str) -> dict[str, str]:
    found: dict[str, str] = cluster.api.get("pods", f"default/{name}")["metadata"].get("annotations") or {}
    return found


def told(cluster: Cluster, name: str) -> list[str]:
    """Return the messages of all Events about a pod, from whomever."""
    events = cluster.api.list("events")
    return [str(event.get("message") or event.get("note")) for event in events if concerns(event, name)]


def concerns(event: Json, name: str) -> bool:
    about = event.get("involvedObject") or event.get("regarding") or {}
    return about.get("name") == name


def locks(cluster: Cluster) -> list[str]:
    found = [node["metadata"].get("annotations", {}).get(LOCK, "") for node in cluster.api.list("nodes")]
    return [text for text in found if text]


@pytest.mark.parametrize("fleet", ["nvidia:1x8"])
def test_f27_the_third_of_three_pods_waits_for_the_last_card(pair: tuple[Cluster, Product]) -> None:
    """Seven cards are full; each pod wants half a card, asked for at the same time."""
    cluster, product = pair
    cluster.api.create("pods", gpu_pod("full", mem=CARD_MIB, cards=7))
    wait_until(lambda: phase(cluster, "full") == "Running")
    names = ["a", "b", "c"]
    for name in names:
        cluster.api.create("pods", gpu_pod(name, mem=CARD_MIB // 2))
    wait_until(lambda: sorted(phase(cluster, name) for name in names) == ["Pending", "Running", "Running"])
    (waiting,) = [name for name in names if phase(cluster, name) == "Pending"]
    wait_until(lambda: "1 nodes CardInsufficientMemory(a100-01)" in told(cluster, waiting))
    (node,) = product.parts.state.everything().values()
    assert {card.mem_used_mib for card in node.cards} == {CARD_MIB}


def test_k01_a_refused_pod_runs_within_seconds_of_the_release(pair: tuple[Cluster, Product]) -> None:
    cluster, product = pair
    cluster.api.create("pods", gpu_pod("first", mem=CARD_MIB))
    wait_until(lambda: phase(cluster, "first") == "Running")
    cluster.api.create("pods", gpu_pod("second", mem=CARD_MIB))
    wait_until(lambda: "no available node, 1 nodes do not meet" in told(cluster, "second"))
    cluster.api.delete("pods", "default/first", grace_seconds=0)
    wait_until(lambda: phase(cluster, "second") == "Running")
    assert product.used() == CARD_MIB


def test_k02_a_priority_preempts_nothing_and_the_events_say_so(pair: tuple[Cluster, Product]) -> None:
    """CFG-12."""
    cluster, _ = pair
    cluster.api.create("pods", gpu_pod("low", mem=CARD_MIB))
    wait_until(lambda: phase(cluster, "low") == "Running")
    cluster.api.create("pods", with_priority(gpu_pod("high", mem=CARD_MIB), 1000))
    wait_until(
        lambda: "shares of GPUs are not preempted, priority 1000 does not help" in told(cluster, "high")
    )
    assert (phase(cluster, "low"), phase(cluster, "high")) == ("Running", "Pending")
    assert not any("not preempted" in text for text in told(cluster, "low"))


@pytest.mark.parametrize("fleet", ["nvidia:2x1"])
def test_l13_of_an_attempt_that_failed_on_one_node_nothing_stays_on_the_next(
    pair: tuple[Cluster, Product],
) -> None:
    """One set of writes an attempt: annotated for n1, its bind fails, then placed on n2."""
    cluster, product = pair
    first, second = sorted(product.parts.state.everything())
    pod = gpu_pod(mem=1000, labels={"hami.io/webhook": "ignore"})
    pod["spec"]["schedulerName"] = "nobody"
    created = cluster.api.create("pods", pod)
    product.post("/filter", {"Pod": created, "NodeNames": [first]})
    old_card = notes(cluster, "trainer")[ALLOCATED].partition(",")[0]
    names = {"PodName": "trainer", "PodNamespace": "default", "PodUID": created["metadata"]["uid"]}
    cluster.faults.fail(verb="create", resource="pods/binding", code=500, times=1)
    assert "simulated fault 500" in product.post("/bind", {**names, "Node": first})["Error"]
    current = cluster.api.get("pods", "default/trainer")
    product.post("/filter", {"Pod": current, "NodeNames": [second]})
    assert product.post("/bind", {**names, "Node": second})["Error"] == ""
    wait_until(lambda: phase(cluster) == "Running")
    found = notes(cluster, "trainer")
    assert found["hami.io/vgpu-node"] == second
    assert not [key for key, text in found.items() if first in text or old_card in text]
    wait_until(lambda: locks(cluster) == [])
    used = {name: usage.cards[0].mem_used_mib for name, usage in product.parts.state.everything().items()}
    assert used == {first: 0, second: 1000}


@pytest.mark.parametrize("fleet", ["nvidia:1x2"])
@pytest.mark.parametrize("flags", [{"node_lock_timeout": 1.0, "bind_wait": 0.0}])
@pytest.mark.parametrize("cluster_settings", [{"allocate_seconds": 3.0}])
def test_l12_a_pod_whose_lock_was_taken_over_fails_cleanly(
    pair: tuple[Cluster, Product], caplog: pytest.LogCaptureFixture, flags: dict[str, float]
) -> None:
    """Allocate comes after the lock's timeout, when another pod has the lock."""
    cluster, product = pair
    cluster.api.create("pods", gpu_pod("slow", mem=1000))
    wait_until(lambda: any(",default,slow" in text for text in locks(cluster)))
    cluster.api.create("pods", gpu_pod("next", mem=500, cards=2))
    wait_until(lambda: phase(cluster, "slow") == "Failed", seconds=10)
    assert any("device number not matched" in text for text in told(cluster, "slow"))
    expired = next(text for text in caplog.messages if text.startswith("lock expired"))
    assert ",default,slow" in expired
    assert "age_seconds=" in expired
    assert expired.endswith("pod=default/next")
    wait_until(lambda: phase(cluster, "next") == "Failed", seconds=10)
    wait_until(lambda: product.used() == 0 and locks(cluster) == [])


@pytest.mark.parametrize("fleet", ["nvidia:1x8"])
def test_f40_a_replacement_gets_the_cards_of_its_predecessor_only_when_that_is_gone(
    pair: tuple[Cluster, Product],
) -> None:
    """Q-21: eight cards, four pods of two; one is replaced, and a finalizer keeps it terminating."""
    cluster, product = pair
    with Onlooker(cluster.api, "pods") as onlooker:
        for name in "abcd":
            cluster.api.create("pods", gpu_pod(name, mem=CARD_MIB, cards=2, finalizers=["test/slow"]))
        wait_until(lambda: {phase(cluster, name) for name in "abcd"} == {"Running"})
        freed = set(ids_in(notes(cluster, "b")[ALLOCATED]))
        cluster.api.delete("pods", "default/b", grace_seconds=0)
        cluster.api.create("pods", gpu_pod("e", mem=CARD_MIB, cards=2))
        wait_until(lambda: "1 nodes CardInsufficientMemory(a100-01)" in told(cluster, "e"))
        assert (phase(cluster, "b"), product.used()) == ("Running", 8 * CARD_MIB)
        cluster.api.patch("pods", "default/b", {"metadata": {"finalizers": None}})
        wait_until(lambda: phase(cluster, "e") == "Running")
        moments = onlooker.holders()
    assert set(ids_in(notes(cluster, "e")[ALLOCATED])) == freed
    assert [held for held in moments if any(len(pods) > 1 for pods in held.values())] == []
    assert (len(moments[-1]), product.used()) == (8, 8 * CARD_MIB)
