"""The board behind "why is my pod pending", and the journal that feeds it."""

from dataclasses import replace

import pytest

from scheduler_app.core.annotations import CARD_POLICY, NODE_POLICY, SCORING_WEIGHTS
from scheduler_app.core.decision import AdmissionRefusal, BindOutcome, Decision
from scheduler_app.core.display import Asked
from scheduler_app.core.errors import HamiError
from scheduler_app.core.publication import PolicyView
from scheduler_app.core.types import CardRequest, Condition, Container, Node, NodeName, Pod
from scheduler_app.engine.asks import asks
from scheduler_app.engine.links import ConsoleLinks
from scheduler_app.engine.pending import (
    GROUPS,
    RECENT_DECISIONS,
    Journal,
    PendingBoard,
    epoch_ms,
    groups_of,
)
from scheduler_app.engine.stops import EXAMPLES
from tests.core.plain import PlainBackend
from tests.engine.world import PLAIN_ONLY, VENDOR, World, asking, pod_of, registered
from tests.fakes.told import FakeEvents

OURS = "hami-scheduler"
TOO_BIG = asking(mem_mib=10**6)


class Desk:
    """A world whose decisions go to a board, as the journal brings them."""

    def __init__(self, *nodes: Node) -> None:
        self.world = World(*(nodes or (registered("n1", "a"), registered("n2", "b"))))
        self.board = PendingBoard(backends=PLAIN_ONLY, scheduler_name=OURS)

    def decide(self, pod: Pod, names: list[str] | None = None) -> Decision:
        decision = self.world.filter(pod, names)
        self.board.decided(decision)
        return decision

    def causes(self) -> list[str]:
        return [pod.cause for pod in self.board.waiting()]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def waiting_pod(**pod: object) -> Pod:
    values = {"phase": "Pending", "scheduler_name": OURS, **pod}
    return replace(pod_of(TOO_BIG, created="2026-01-02T15:04:05Z"), **values)  # type: ignore[arg-type]  # test data


def test_u12_a_pod_that_was_never_tried_is_on_the_board(desk: Desk) -> None:
    desk.board.seen(waiting_pod())
    (pod,) = desk.board.waiting()
    assert (pod.cause, pod.tries, pod.since_ms) == ("not_asked", 0, 1_767_366_245_000)
    assert [(ask.container, ask.vendor, ask.mem_mib) for ask in pod.asks] == [("main", "Plain", 10**6)]


def test_a_gated_pod_says_so(desk: Desk) -> None:
    desk.board.seen(waiting_pod(scheduling_gates=("quota",)))
    assert desk.causes() == ["gated"]


def test_kube_scheduler_s_own_words_are_kept(desk: Desk) -> None:
    desk.board.seen(waiting_pod(scheduled=Condition("False", "Unschedulable", "untolerated taint")))
    assert desk.board.waiting()[0].before_text == "untolerated taint"


@pytest.mark.parametrize(
    "pod",
    [
        {"phase": "Running", "node_name": "n1"},
        {"phase": "Succeeded"},
        {"is_terminating": True},
    ],
)
def test_a_pod_that_waits_no_longer_leaves(desk: Desk, pod: dict[str, object]) -> None:
    desk.board.seen(waiting_pod())
    desk.board.take_changes()
    desk.board.seen(waiting_pod(**pod))
    assert desk.board.waiting() == ()
    assert desk.board.take_changes().gone == ("uid-p",)


def test_other_schedulers_pods_without_cards_are_not_ours(desk: Desk) -> None:
    desk.board.seen(replace(pod_of(Container("web")), phase="Pending", scheduler_name="default-scheduler"))
    assert desk.board.waiting() == ()


def test_a_refusal_is_told_by_its_dominant_word(desk: Desk) -> None:
    """Feature 1: what refused most nodes; the words that only sum up do not count."""
    desk.decide(pod_of(TOO_BIG), ["n1", "n2", "n9"])
    (pod,) = desk.board.waiting()
    assert (pod.cause, pod.tries, pod.asked) == ("CardInsufficientMemory", 1, 3)
    assert [(group.text, group.nodes) for group in pod.groups] == [
        ("1/1 CardInsufficientMemory", 2),
        ("node unregistered", 1),
    ]


def test_bare_texts_are_causes_of_their_own(desk: Desk) -> None:
    desk.decide(pod_of(asking(2)))
    assert desk.causes() == ["NodeInsufficientDevice"]


def test_nodes_that_could_never_hold_the_pod_do_not_name_the_cause() -> None:
    """In a mixed fleet most nodes have no card of the kind; what the others lack is why it waits."""
    desk = Desk(registered("n1", "a", "b"), *(registered(f"small-{n}", f"s{n}") for n in range(3)))
    desk.decide(pod_of(asking(2, mem_mib=10**6)))
    (pod,) = desk.board.waiting()
    assert [(group.text, group.nodes) for group in pod.groups] == [
        ("NodeInsufficientDevice", 3),
        ("2/2 CardInsufficientMemory", 1),
    ]
    assert pod.cause == "CardInsufficientMemory"
    assert desk.board.recent()[0].reason == "2/2 CardInsufficientMemory"


@pytest.mark.parametrize(
    ("told", "node_policy", "card_policy"),
    [
        ({}, ("binpack", False), ("spread", False)),
        ({NODE_POLICY: "spread"}, ("spread", True), ("spread", False)),
        ({CARD_POLICY: "numa,mutex"}, ("binpack", False), ("numa,mutex", True)),
        ({NODE_POLICY: ""}, ("", True), ("spread", False)),
    ],
)
def test_p10_a_decision_tells_which_policy_counted_and_whose_it_was(
    desk: Desk, told: dict[str, str], node_policy: tuple[str, bool], card_policy: tuple[str, bool]
) -> None:
    """F-23, F-38: for a refused pod as well."""
    for container, kind in ((asking(), "placed"), (TOO_BIG, "refused")):
        desk.decide(pod_of(container, name=kind, annotations=told))
        found = desk.board.recent()[0]
        assert (found.pod, found.kind) == (kind, kind)
        assert found.node_policy == PolicyView(*node_policy)
        assert found.card_policy == PolicyView(*card_policy)
        assert found.score_parts == ({"": 0.0, "Plain": 0.0} if kind == "placed" else {})


def test_no_candidates_is_a_cause(desk: Desk) -> None:
    desk.decide(pod_of(), [])
    assert desk.causes() == ["no_candidates"]


def test_an_error_is_a_cause_with_its_text(desk: Desk) -> None:
    desk.world.writer.fails["patch_pod"] = HamiError("forbidden")
    desk.decide(pod_of())
    (pod,) = desk.board.waiting()
    assert (pod.cause, pod.error) == ("error", "forbidden")


def test_a_placed_pod_waits_to_be_bound(desk: Desk) -> None:
    desk.decide(pod_of(TOO_BIG))
    desk.decide(pod_of(asking()))
    (pod,) = desk.board.waiting()
    assert (pod.cause, pod.placed_on, pod.tries) == ("", "n1", 2)


def test_a_failed_bind_is_a_cause(desk: Desk) -> None:
    desk.decide(pod_of())
    desk.board.bound(BindOutcome("default", "p", "uid-p", NodeName("n1"), "locked"))
    assert desk.causes() == ["bind"]
    desk.board.bound(BindOutcome("default", "q", "uid-q", NodeName("n1"), "locked"))
    assert len(desk.board.waiting()) == 1


def test_u17_changes_are_told_once_and_only_when_something_changed(desk: Desk) -> None:
    desk.board.seen(waiting_pod())
    first = desk.board.take_changes()
    for _ in range(10):
        desk.board.seen(waiting_pod(resource_version="9"))
    again = desk.board.take_changes()
    assert (len(first.put), again.put, again.gone, again.decisions) == (1, (), (), ())


def test_a_pod_that_comes_and_goes_between_two_looks_is_told_as_gone(desk: Desk) -> None:
    desk.board.seen(waiting_pod())
    desk.board.gone(waiting_pod().uid)
    changes = desk.board.take_changes()
    assert (changes.put, changes.gone) == ((), ("uid-p",))


def test_a_pod_that_is_back_is_not_gone(desk: Desk) -> None:
    desk.board.seen(waiting_pod())
    desk.board.gone(waiting_pod().uid)
    desk.board.seen(waiting_pod())
    changes = desk.board.take_changes()
    assert (len(changes.put), changes.gone) == (1, ())


def test_a_decision_about_a_pod_that_was_deleted_meanwhile_leaves_with_its_deletion(desk: Desk) -> None:
    desk.decide(pod_of(TOO_BIG))
    desk.board.gone(pod_of().uid)
    assert desk.board.waiting() == ()


def test_a_decision_that_ends_after_its_pod_was_deleted_brings_nothing_back(desk: Desk) -> None:
    """K06: no watch event would ever take it off the board again."""
    desk.board.seen(waiting_pod())
    desk.board.gone(waiting_pod().uid)
    desk.decide(waiting_pod())
    assert desk.board.waiting() == ()
    assert len(desk.board.recent()) == 1


def test_recent_decisions_are_bounded_newest_first(desk: Desk) -> None:
    for number in range(RECENT_DECISIONS + 5):
        desk.decide(pod_of(TOO_BIG, name=f"p{number}"))
    recent = desk.board.recent()
    assert (len(recent), recent[0].pod) == (RECENT_DECISIONS, f"p{RECENT_DECISIONS + 4}")
    assert recent[0].reason == "1/1 CardInsufficientMemory"


def test_groups_are_bounded_and_name_examples() -> None:
    groups = groups_of({f"text {t:02}": [NodeName(f"n{n:03}") for n in range(t, 800, 80)] for t in range(80)})
    assert len(groups) == GROUPS
    assert groups[0].examples == tuple(f"n{n:03}" for n in range(0, 400, 80))[:EXAMPLES]


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z"])
def test_an_unreadable_time_is_no_time(text: str) -> None:
    assert epoch_ms(text) == 0


def test_the_journal_tells_everybody(desk: Desk) -> None:
    kept: list[object] = []
    counted: list[object] = []
    links = ConsoleLinks(url="", events=FakeEvents())
    journal = Journal(board=desk.board, keep=kept.append, count=counted.append, links=links)
    decision = desk.world.filter(pod_of(TOO_BIG))
    told = [
        decision,
        BindOutcome("default", "p", "uid-p", NodeName("n1"), "locked"),
        AdmissionRefusal("default", "Pod/p", "no"),
    ]
    journal.record(decision)
    journal.record_bind(told[1])  # type: ignore[arg-type]  # its second is a bind
    journal.record_refusal(told[2])  # type: ignore[arg-type]  # its third is a refusal
    assert kept == counted == told
    assert desk.causes() == ["bind"]


def test_what_a_pod_asks_is_told_in_the_vendor_s_words() -> None:
    """Units and amounts are the backend's own (``core/display.py``), not the request's."""
    spoken = Spoken()
    (view,) = asks(
        pod_of(asking(2, cores=30)),
        ({VENDOR: CardRequest(2, VENDOR, 100, 0, 30)},),
        backends={VENDOR: spoken},
    )
    assert (view.vendor, view.cards, view.mem_mib, view.cores, view.cores_unit) == (VENDOR, 2, 0, 7, "EU")
    assert view.slices == 3


class Spoken(PlainBackend):
    asked_cores_unit = "EU"

    def asked(self, request: CardRequest) -> Asked:
        return Asked(cores=7, slices=3)


def test_p10_a_try_that_ended_before_the_policies_were_read_names_none(desk: Desk) -> None:
    """F-17: the weights cannot be read, so the words of the annotations counted for nothing."""
    given = {NODE_POLICY: "spread", CARD_POLICY: "binpack", SCORING_WEIGHTS: "nonsense"}
    decision = desk.decide(pod_of(TOO_BIG, annotations=given))
    (view,) = desk.board.take_changes().decisions
    assert decision.error
    assert (view.node_policy, view.card_policy) == (PolicyView(), PolicyView())
