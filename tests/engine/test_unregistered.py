"""N16: what the wire calls ``node unregistered`` has three causes, told apart in Events and in history."""

from collections.abc import Callable, Mapping

from scheduler_app.core.decision import Decision
from scheduler_app.core.types import Node, NodeName
from scheduler_app.engine import notices
from scheduler_app.engine.unregistered import REMEMBERED_SECONDS, Explainer
from scheduler_app.models import DecisionRecord
from tests.core.plain import PLAIN
from tests.engine.world import PLAIN_ONLY, World, asking, pod_of, registered
from tests.factories import make_node
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeNodes

ON = {"gpu": "on"}
NOT_SELECTED = "node unregistered: not selected: label gpu=on is missing"
NEVER = "node unregistered: no device plugin has registered cards: no register annotation, no capacity"
SILENT = f"node unregistered: {PLAIN.vendor_key}: the device plugin does not answer the handshake"
TOO_BIG = asking(mem_mib=10**6)


class Looked:
    """Nodes, and how often somebody looked at one to explain it."""

    def __init__(self, *nodes: Node, problems: Mapping[NodeName, str] | None = None) -> None:
        self.nodes, self.looks = FakeNodes(list(nodes)), 0
        self.registered: set[str] = set()
        self.clock = FakeClock()
        self.explain = Explainer(
            node=self.get,
            has_cards=lambda name: name in self.registered,
            problems=lambda: problems or {},
            backends=PLAIN_ONLY,
            selector=ON,
            monotonic=self.clock,
        )

    def get(self, name: NodeName) -> Node | None:
        self.looks += 1
        return self.nodes.get(name)


def three_causes() -> Looked:
    """Return nodes that are not selected, have no device plugin, and have one that is silent."""
    silent = registered("silent", "a")
    return Looked(
        make_node("other"),
        make_node("never", labels=ON),
        make_node("silent", labels=ON, annotations=dict(silent.annotations)),
        registered("n1", "b", labels=ON),
    )


def decided(looked: Looked) -> tuple[World, Decision]:
    world = World(registered("n1", "b"), explain=looked.explain)
    return world, world.filter(pod_of(TOO_BIG), ["n1", "other", "never", "silent", "another"])


def test_n16_events_tell_the_causes_apart_beside_the_reference_s_words() -> None:
    """F-34: those stay, and the protocol's text stays in the answer (M-23)."""
    world, decision = decided(three_causes())
    assert world.events.messages == [
        "1 nodes CardInsufficientMemory(n1)",
        f"1 nodes {SILENT}(silent)",
        f"1 nodes {NEVER}(never)",
        "1 nodes node unregistered: no such node is known(another)",
        f"1 nodes {NOT_SELECTED}(other)",
        "no available node, 5 nodes do not meet",
    ]
    assert {decision.refused[NodeName(name)] for name in ("other", "never", "silent")} == {
        "node unregistered"
    }


def test_n16_what_is_kept_of_a_decision_tells_the_causes_apart() -> None:
    _world, decision = decided(three_causes())
    assert DecisionRecord.from_decision(decision).refused == {
        "1/1 CardInsufficientMemory": ["n1"],
        NOT_SELECTED: ["other"],
        NEVER: ["never"],
        SILENT: ["silent"],
        "node unregistered: no such node is known": ["another"],
    }


def test_n16_a_problem_of_registration_is_the_cause() -> None:
    looked = Looked(make_node("other"), problems={NodeName("other"): "Plain: not JSON"})
    assert looked.explain([NodeName("other")]) == {"Plain: not JSON": ["other"]}


def test_n16_of_a_node_that_registered_in_between_nothing_wrong_is_told() -> None:
    looked = three_causes()
    looked.registered.add("silent")
    assert looked.explain([NodeName("silent")]) == {"it has registered since": ["silent"]}


def test_n16_no_node_is_looked_at_while_a_filter_call_is_answered() -> None:
    """Events and history ask later, in their own threads."""
    looked, later = three_causes(), list[Callable[[], None]]()
    world = World(registered("n1", "b"), explain=looked.explain)
    world.events.defer = later.append
    decision = world.filter(pod_of(TOO_BIG), ["n1", "other", "never", "silent"])
    assert (looked.looks, len(later)) == (0, 1)
    later[0]()
    assert looked.looks == 3
    assert decision.causes.keys() >= {NEVER, SILENT}


def test_n16_nodes_are_looked_at_once_in_a_while_whatever_the_number_of_decisions() -> None:
    """Who explains shares the interpreter with filter calls; what has changed is told soon after."""
    looked, names = three_causes(), [NodeName("other"), NodeName("never")]
    looked.explain(names)
    looked.explain(names)
    assert looked.looks == 2
    looked.nodes.change("other", labels=ON)
    looked.clock.advance(REMEMBERED_SECONDS + 1)
    assert list(looked.explain(names).values()) == [names]
    assert looked.looks == 4


def test_n16_many_causes_are_told_by_the_most_frequent() -> None:
    """Problems of registration are texts of nodes: an Event is for people, not a copy of them."""
    causes = {f"node unregistered: cause {n:02}": [NodeName(f"n{i}") for i in range(n)] for n in range(1, 20)}
    told = notices.unregistered(causes)
    assert len(told) == notices.CAUSES
    assert told[0].startswith("19 nodes node unregistered: cause 19(")


def test_n16_without_anybody_to_explain_the_words_are_the_reference_s_alone() -> None:
    world = World(registered("n1", "b"))
    decision = world.filter(pod_of(TOO_BIG), ["n1", "other"])
    assert world.events.messages[1:] == ["no available node, 2 nodes do not meet"]
    assert decision.causes == decision.findings.by_text
