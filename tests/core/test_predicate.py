"""One pod on one node: containers in their order, cards as they fill up (F-19 to F-37)."""

from typing import Any

import pytest

from scheduler_app.core.errors import UsageError
from scheduler_app.core.fit import FitRun
from scheduler_app.core.float32 import f32
from scheduler_app.core.predicate import BASE_PART, Ask, Outcome, predicate, requests_of, score_parts
from scheduler_app.core.score import ScoreInput, node_score
from scheduler_app.core.types import (
    Allocation,
    CardRequest,
    CardUsage,
    Container,
    Node,
    NodeUsage,
    Pod,
    VendorKey,
)
from tests.core.plain import COUNT, MEM, PLAIN, PlainBackend, card
from tests.factories import make_card, make_container, make_node, make_pod


class OtherBackend(PlainBackend):
    vendor_key = VendorKey("Other")

    def request(self, container: Container) -> CardRequest | None:
        number = container.limits.get("other.io/gpu")
        return None if number is None else CardRequest(int(number), self.vendor_key)


OTHER = OtherBackend()


def other_card(id: str = "o") -> CardUsage:
    return make_card(id=id, vendor="Other", type="Other-9", mem_mib=1000)


def asks(cards: int, mem: int = 100) -> Container:
    return make_container(limits={COUNT: cards, MEM: mem})


NOTHING = make_container(limits={"cpu": 1})


def run(
    pod: Pod,
    *cards: CardUsage,
    backends: tuple[PlainBackend, ...] = (PLAIN, OTHER),
    node: Node | None = None,
    policies: tuple[str, str] = ("binpack", "spread"),
) -> Outcome:
    by_key = {backend.vendor_key: backend for backend in backends}
    ask = Ask(pod, requests_of(pod, by_key), by_key, *policies)
    return predicate(ask, NodeUsage(node or make_node(), 1, cards))


def placed(outcome: Outcome, vendor: str = "Plain") -> list[list[str]]:
    assert outcome.devices is not None, outcome.reason
    return [[taken.card for taken in container] for container in outcome.devices[VendorKey(vendor)]]


def pod(*containers: Container, init: tuple[Container, ...] = (), **values: Any) -> Pod:
    return make_pod(containers=containers, init_containers=init, **values)


def test_requests_are_in_container_and_vendor_order() -> None:
    """F-1, Q-33: init containers first; a number of 0 asks nothing."""
    both = make_container(limits={COUNT: 1, "other.io/gpu": 1})
    zero = make_container(limits={COUNT: 0})
    found = requests_of(pod(zero, both, init=(asks(2),)), {PLAIN.vendor_key: PLAIN, OTHER.vendor_key: OTHER})
    assert [list(one) for one in found] == [["Plain"], [], ["Other", "Plain"]]


def test_later_containers_see_what_earlier_ones_took() -> None:
    """F-21."""
    assert placed(run(pod(asks(1, 600), asks(1, 600)), card("a"), card("b"))) == [["b"], ["a"]]
    assert run(pod(asks(1, 600), asks(1, 600)), card("a")).reason == "1/1 CardInsufficientMemory"


@pytest.mark.parametrize(
    ("cards", "place"),
    [([], 1), ([card("a", mem_mib=500)], 1), ([card("a")], 3), ([card("a"), card("b")], None)],
)
def test_a_refusal_names_the_container_that_did_not_fit(cards: list[CardUsage], place: int | None) -> None:
    """console.md 6.2: as its place among all, with those that ask for nothing."""
    outcome = run(pod(asks(1, 600), NOTHING, asks(1, 600), init=(NOTHING,)), *cards)
    assert outcome.container == place


def test_init_containers_do_not_compete() -> None:
    """F-20: neither with each other nor with the app containers."""
    small = pod(asks(1, 900), init=(asks(1, 900), asks(1, 900)))
    assert placed(run(small, card("a"))) == [["a"], ["a"], ["a"]]


def test_a_sidecar_competes_with_the_app_containers() -> None:
    """Q-23."""
    sidecar = Container("s", {COUNT: "1", MEM: "900"}, restarts_always=True)
    assert run(pod(asks(1, 900), init=(sidecar,)), card("a")).reason == "1/1 CardInsufficientMemory"
    assert placed(run(pod(asks(1, 900), init=(sidecar,)), card("a"), card("b"))) == [["b"], ["a"]]


def test_containers_that_ask_nothing_keep_their_place() -> None:
    """Q-1: positions always match containers, whatever the cards are called."""
    mixed = pod(NOTHING, asks(1), NOTHING, init=(NOTHING,))
    assert placed(run(mixed, card("a"))) == [[], [], ["a"], []]


def test_vendors_that_are_merely_there_get_nothing() -> None:
    """Q-1."""
    outcome = run(pod(asks(1)), card("a"), other_card())
    assert outcome.devices is not None
    assert list(outcome.devices) == ["Plain"]


def test_every_vendor_has_its_own_positions() -> None:
    """Q-1."""
    two = pod(make_container(limits={"other.io/gpu": 1}), asks(1))
    outcome = run(two, card("a"), other_card())
    assert placed(outcome, "Other") == [["o"], []]
    assert placed(outcome) == [[], ["a"]]


def test_too_few_candidates_end_it_at_once() -> None:
    """F-29: candidates are the cards whose model has the vendor's word in it, in any case (Q-30)."""
    assert run(pod(asks(2)), card("a"), other_card()).reason == "NodeInsufficientDevice"
    loud = card("a", type="xPLAINx")
    assert placed(run(pod(asks(1)), loud, other_card())) == [["a"]]
    assert run(pod(asks(1)), card("a", type="nameless")).reason == "NodeInsufficientDevice"


class Waiving(PlainBackend):
    def waives_card_count(self, pod: Pod, candidates: object) -> bool:
        return True


def test_a_vendor_may_waive_the_number_of_candidates() -> None:
    """F-29: then fit decides."""
    reason = run(pod(asks(2)), card("a"), backends=(Waiving(),)).reason
    assert reason == "1/1 AllocatedCardsInsufficientRequest"


def test_an_unknown_request_type_is_told() -> None:
    """F-28."""

    class Lost(PlainBackend):
        def request(self, container: Container) -> CardRequest | None:
            return CardRequest(1, VendorKey("Plainer"))

    assert run(pod(asks(1)), card("a"), backends=(Lost(),)).reason == "Device type not found"


def test_a_card_that_is_not_there_is_told() -> None:
    """F-31."""

    class Inventive(PlainBackend):
        def allocation(self, run: FitRun, card: CardUsage) -> Allocation:
            return Allocation(other_card("ghost").id, "Plain", 0, 0)

    reason = run(pod(asks(1)), card("a"), backends=(Inventive(),), node=make_node("n")).reason
    assert reason == 'Device with UUID "ghost" not found on node n after Fit'


def test_a_usage_that_cannot_be_added_is_told() -> None:
    """F-31."""

    class Failing(PlainBackend):
        def add_usage(
            self, card: CardUsage, allocation: Allocation, pod: Pod
        ) -> tuple[CardUsage, Allocation]:
            raise UsageError("no place")

    reason = run(pod(asks(1)), card("a"), backends=(Failing(),)).reason
    assert reason == "AddResourceUsage failed for device a: no place"


def test_a_refusal_leaves_the_node_as_it_was() -> None:
    """F-18: a node is evaluated on copies."""
    cards = (card("a"), card("b", used=(1, 100, 10)))
    before = tuple(cards)
    assert run(pod(asks(2, 2000)), *cards).devices is None
    assert cards == before


@pytest.mark.parametrize(
    ("policy", "taken"), [("binpack", "b"), ("spread", "a"), ("mutex", "a"), ("numa,binpack", "b")]
)
def test_the_device_policy_orders_the_cards(policy: str, taken: str) -> None:
    """F-24, F-26."""
    cards = (card("b", used=(1, 100, 10), numa=1), card("a"))
    assert placed(run(pod(asks(1)), *cards, policies=("binpack", policy))) == [[taken]]


def test_numa_binding_is_a_pods_wish_for_every_vendor() -> None:
    """F-25."""
    cards = (card("far", numa=1, used=(2, 0, 0)), card("near", numa=0))
    bound = pod(asks(1), annotations={"nvidia.com/numa-bind": "T"})
    assert placed(run(bound, *cards)) == [["far"]]
    assert placed(run(pod(asks(1)), *cards)) == [["near"]]


# Node scores


class Scoring(PlainBackend):
    def score_node(self, given: ScoreInput) -> float:
        return 0.25


class Neutral(Scoring):
    is_policy_neutral = True


@pytest.mark.parametrize("policy", ["spread", "binpack"])
def test_p02_the_parts_of_a_score_are_told(policy: str) -> None:
    """VS-31, ASC-52: a vendor's topology score counts alike under both policies, whichever wins then."""

    class Linked(PlainBackend):
        def score_node(self, given: ScoreInput) -> float:
            return 10.0 if given.node.name == "near" else 0.0

    backends = {PLAIN.vendor_key: Linked()}
    ask = Ask(pod(asks(1)), requests_of(pod(asks(1)), backends), backends, policy, "spread")
    for name, topology in (("near", 10.0), ("far", 0.0)):
        node = NodeUsage(make_node(name), 1, (card("a", used=(5, 500, 50)), card("b")))
        outcome = predicate(ask, node)
        assert outcome.devices is not None
        assert score_parts(ask, node, outcome.devices) == {BASE_PART: 7.5, "Plain": topology}
        assert outcome.score == 7.5 + topology


@pytest.mark.parametrize(
    ("backend", "policy", "part"),
    [
        (PLAIN, "spread", 0.0),
        (Scoring(), "spread", 0.25),
        (Neutral(), "spread", -2500.0),
        (Neutral(), "binpack", 2500.0),
    ],
)
def test_the_vendors_add_to_the_base_score(backend: PlainBackend, policy: str, part: float) -> None:
    """F-36, F-37: the base is the node before this pod."""
    cards = (card("a", used=(3, 100, 7)), card("b"))
    outcome = run(pod(asks(2)), *cards, backends=(backend,), policies=(policy, "spread"))
    assert outcome.score == f32(node_score(cards) + part)
