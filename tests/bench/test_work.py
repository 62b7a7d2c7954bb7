"""A ratchet on the work that decisions cost, in counts and not in seconds: they are equal on every machine.

A count that has become smaller is stored here as the new one; one that has become larger is a regression.
"""

from collections.abc import Iterable, Mapping, Sequence

import pytest

from bench.inprocess import Engine, engine
from bench.registration import registrar
from bench.scene import Scene, dumps
from scheduler_app.core import handshake
from scheduler_app.core.types import Card, CardUsage, NodeName
from scheduler_app.engine import nodebook
from scheduler_app.engine.nodebook import Backends, Held
from scheduler_app.kube import decode

PODS = 20


def place(
    cluster: Engine, scene: Scene, *, fits: bool = True, annotations: Mapping[str, str] | None = None
) -> set[str]:
    """Ask for twenty pods of one request on all nodes; return the kinds of answers."""
    names = [NodeName(name) for name in scene.names()]
    kinds: set[str] = set()
    for number in range(PODS):
        asking = scene.asking(number, fits=fits)
        told = {key: text.format(number) for key, text in (annotations or {}).items()}
        asking["metadata"]["annotations"].update(told)
        decision = cluster.scheduler.filter(decode.decode_pod(dumps(asking)), names=names)
        kinds.add(decision.kind)
    return kinds


@pytest.mark.parametrize(
    ("scene", "fits", "misses"),
    [
        pytest.param(Scene(100, 8, 0), True, 20, id="idle nodes, all alike"),
        pytest.param(Scene(100, 8, 1000), True, 20, id="equally filled nodes"),
        pytest.param(Scene(100, 8, 1000), False, 1, id="fits nowhere"),
        pytest.param(Scene(200, 8, 0, shapes=50), True, 69, id="fifty kinds of node"),
        pytest.param(Scene(100, 8, 0, shapes=100), True, 119, id="no two nodes alike"),
    ],
)
def test_a_decision_costs_what_differs(scene: Scene, fits: bool, misses: int) -> None:
    """One evaluation for each state of a node, then one for each node that a decision changed (section 5)."""
    cluster = engine(scene)
    assert place(cluster, scene, fits=fits) == {"placed" if fits else "refused"}
    work = cluster.scheduler.work
    assert work.candidates == PODS * scene.nodes
    assert work.misses == misses


def test_a_number_of_its_own_makes_no_pod_another_request() -> None:
    """Pods of an indexed Job differ in an annotation that no vendor reads."""
    scene = Scene(50, 8, 0)
    cluster = engine(scene)
    place(cluster, scene, annotations={"batch.kubernetes.io/job-completion-index": "{}"})
    assert cluster.scheduler.work.misses == PODS


def test_a_change_of_one_node_works_out_one_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """Usage is kept, never rebuilt from all pods: a filter call adds up the pods of nodes that changed."""
    scene = Scene(100, 8, 1000)
    cluster = engine(scene)
    cluster.state.everything()
    added_up: list[int] = []
    original = nodebook._use

    def counting(backends: Backends, cards: Sequence[Card], pods: Iterable[Held]) -> tuple[CardUsage, ...]:
        held = list(pods)
        added_up.append(len(held))
        return original(backends, cards, held)

    monkeypatch.setattr(nodebook, "_use", counting)
    place(cluster, scene)
    assert len(added_up) <= PODS
    assert max(added_up) <= scene.pods / scene.nodes + PODS


def test_a_registration_pass_reads_no_stamp_that_it_has_read_before() -> None:
    """Every node carries a stamp of each vendor (R-8); they are few texts, and read in each pass."""
    made = registrar(Scene(20, 8, 0))
    made.run_pass()
    before = handshake._time.cache_info()
    made.run_pass()
    after = handshake._time.cache_info()
    assert after.misses == before.misses
    assert after.hits - before.hits >= 20
