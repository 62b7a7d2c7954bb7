"""AWS Neuron: cores by mask, several cards as neighbours. Rules NEU-1 to NEU-9, cases NEU-E01 to NEU-E36."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.errors import AdmissionError, CodecError
from scheduler_app.core.predicate import Ask, predicate, requests_of
from scheduler_app.core.types import CardRequest, CardUsage, Container, Node, NodeUsage, Pod
from scheduler_app.devices import awsneuron
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

COUNT, CORES = "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"
ALLOCATED = "hami.io/aws-neuron-devices-allocated"
LABEL = "node.kubernetes.io/instance-type"


def backend(cores_per_card: int = 2) -> awsneuron.AwsNeuronBackend:
    """Return a backend that has seen a node of cards with so many cores; 0 for none."""
    neuron = awsneuron.AwsNeuronBackend(awsneuron.Config(COUNT, CORES))
    if cores_per_card:
        neuron.node_cards(node(1, cores_per_card))
    return neuron


def node(cards: int, cores: int | None, kind: str = "inf2.24xlarge", name: str = "n1") -> Node:
    capacity = {COUNT: str(cards)} | ({} if cores is None else {CORES: str(cores)})
    return make_node(name, capacity=capacity, labels={LABEL: kind})


def ask(number: int = 1, cores: int = 2) -> CardRequest:
    return CardRequest(number, awsneuron.KEY, cores=cores)


def card(id: str = "a", mask: int = 0, *, total: int = 3, used: int = 0, **values: object) -> CardUsage:
    """Return a card with the cores of ``mask`` given away in ``used`` shares."""
    values = {"shares": 2, "mem_mib": 0, "cores": total, **values}
    return make_card(id=id, vendor="AWSNeuron", used=(used, 0, mask), **values)  # type: ignore[arg-type]  # test data


def row(number: int, *, kind: str, used: Iterable[int] = ()) -> list[CardUsage]:
    """Return ``number`` cards in order, those of ``used`` with one core given away."""
    custom = {"AWSNodeType": kind}
    busy = set(used)
    return [
        card(str(n), 1 if n in busy else 0, used=1 if n in busy else 0, index=n, custom=custom)
        for n in range(number)
    ]


def fit(
    cards: Sequence[CardUsage],
    request: CardRequest,
    *,
    policy: str = "spread",
    annotations: Mapping[str, str] | None = None,
) -> tuple[list[tuple[str, int]], str]:
    """Return id and mask of each card taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}), policy=policy)
    result = backend().fit(context, cards, request)
    return [(taken.card, taken.cores) for taken in result.allocations], result.reason


# Requests and admission


@pytest.mark.parametrize(
    ("case", "per_card", "resources", "asked"),
    [
        ("NEU-E01", 2, {"limits": {COUNT: 2}}, ask(2)),
        ("NEU-E01", 2, {"requests": {COUNT: 2}}, ask(2)),
        ("NEU-E03", 0, {"limits": {COUNT: 1}}, ask(1, 0)),
        ("NEU-E03", 1, {"limits": {COUNT: 1}}, ask(1, 1)),
        ("NEU-E03", 4, {"limits": {COUNT: 1}}, ask(1, 4)),
        ("NEU-E04", 2, {"limits": {CORES: 1}}, ask(1, 1)),
        ("NEU-E04", 2, {"limits": {CORES: 2}}, ask(1, 2)),
        ("NEU-E04", 2, {"limits": {CORES: 6}}, ask(3, 2)),
        ("NEU-E06", 1, {"limits": {CORES: 3}}, ask(3, 1)),
        ("NEU-E06", 4, {"limits": {CORES: 4}}, ask(2, 2)),
        ("NEU-E06", 0, {"limits": {CORES: 4}}, ask(2, 2)),
        ("NEU-E09", 2, {"limits": {COUNT: 2, CORES: 3}}, ask(2)),
        ("NEU-E09", 2, {"limits": {CORES: 2}, "requests": {COUNT: 1}}, ask(1)),
    ],
)
def test_cards_or_else_cores_are_asked_for(
    case: str, per_card: int, resources: dict[str, dict[str, object]], asked: CardRequest
) -> None:
    """NEU-4."""
    neuron = backend(per_card)
    assert neuron.request(make_container(**resources)) == asked, case
    draft = make_draft(**resources)
    assert neuron.mutate(draft, draft.pod) is True, case
    assert draft.pod.operations == []


@pytest.mark.parametrize(
    ("case", "per_card", "limits", "message"),
    [
        ("NEU-E02", 2, {COUNT: 0}, f"{COUNT} must be greater than 0"),
        ("NEU-E02", 2, {COUNT: -1}, f"{COUNT} must be greater than 0"),
        ("NEU-E02", 2, {COUNT: "1500m"}, f"{COUNT} must be an integer"),
        ("NEU-E02", 2, {COUNT: "2000m"}, f"{COUNT} must be an integer"),
        ("NEU-E02", 2, {COUNT: 2**31}, f"{COUNT} must not exceed 2147483647"),
        ("NEU-E05", 2, {CORES: 3}, f"{CORES} must be 1 or a multiple of 2, got 3"),
        ("NEU-E07", 2, {CORES: -2}, f"{CORES} must be greater than 0"),
        ("NEU-E07", 2, {CORES: 4294967295}, f"{CORES} must not exceed 4294967294"),
        (
            "NEU-E07",
            1,
            {CORES: 2**31},
            f"{CORES} needs 2147483648 devices, which exceeds the maximum of 2147483647",
        ),
        ("NEU-E08", 2, {COUNT: 0, CORES: 2}, f"{COUNT} must be greater than 0"),
    ],
)
def test_impossible_amounts_are_refused(
    case: str, per_card: int, limits: dict[str, object], message: str
) -> None:
    """NEU-4: and ask for nothing, should the pod come past admission."""
    neuron, draft = backend(per_card), make_draft(limits=limits)
    with pytest.raises(AdmissionError) as raised:
        neuron.mutate(draft, draft.pod)
    assert str(raised.value) == message, case
    assert neuron.request(make_container(limits=limits)) is None


def test_other_containers_are_not_ours() -> None:
    """NEU-4."""
    draft = make_draft(limits={"cpu": 1})
    assert backend().mutate(draft, draft.pod) is False
    assert backend().request(make_container(limits={"cpu": 1})) is None


def test_quota_counts_cores_only() -> None:
    """NEU-1."""
    assert backend().names == ResourceNames(COUNT, "", CORES, 0)


# Nodes


def test_cards_know_their_machine() -> None:
    """NEU-E10."""
    first, second = backend(0).node_cards(node(2, 4, name="a"))
    assert (first.id, second.id) == ("a-AWSNeuron-0", "a-AWSNeuron-1")
    assert (second.index, second.shares, second.cores, second.mem_mib) == (1, 2, 3, 0)
    assert second.custom == {"AWSNodeType": "inf2.24xlarge"}


@pytest.mark.parametrize(
    ("cards", "cores", "shares", "mask"), [(2, 5, 2, 3), (1, 4, 4, 15), (1, 8, 8, 255), (2, None, 0, 0)]
)
def test_cores_of_a_card_are_a_mask(cards: int, cores: int | None, shares: int, mask: int) -> None:
    """NEU-E11."""
    first, *_ = backend(0).node_cards(node(cards, cores))
    assert (first.shares, first.cores) == (shares, mask)


def test_the_first_node_speaks_for_all() -> None:
    """NEU-2, NEU-E12."""
    (only,) = backend(4).node_cards(node(1, 2))
    assert (only.shares, only.cores) == (4, 15)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (node(0, 2), f"device not found {COUNT}"),
        (make_node(), f"device not found {COUNT}"),
        (node(1, 32), "32 cores a card, expected at most 31"),
        (node(10**9, 1), "1000000000 cards"),
    ],
)
def test_a_node_without_usable_cards_says_why(given: Node, message: str) -> None:
    """NEU-E13; more cores than a mask holds, more cards than a node."""
    with pytest.raises(CodecError, match=message):
        backend(0).node_cards(given)


def test_negative_capacity_is_no_cards_and_teaches_nothing() -> None:
    """NEU-E13."""
    neuron = backend(0)
    assert neuron.node_cards(node(-1, 2)) == ()
    assert neuron.cores_per_card == 0


def test_a_node_is_always_healthy_and_never_locked_or_cleaned() -> None:
    """NEU-3."""
    health = backend().health(make_node(), now=datetime(2026, 1, 2))  # noqa: DTZ001  (stamps carry no zone)
    assert (health.healthy, health.needs_update, health.stamp) == (True, True, False)
    assert backend().node_lock is None
    assert backend().cleanup_keys == ()


# One card


@pytest.mark.parametrize(
    ("case", "mask", "total", "cores", "given"),
    [
        ("NEU-E14", 0, 3, 1, 1),
        ("NEU-E14", 1, 3, 1, 2),
        ("NEU-E14", 2, 3, 1, 1),
        ("NEU-E15", 0, 3, 2, 3),
        ("NEU-E16", 0, 15, 4, 3),
        ("NEU-E16", 3, 15, 1, 0),
        ("NEU-E16", 1, 15, 2, 2),
        ("NEU-E17", 0, 3, 0, 3),
    ],
)
def test_free_cores_are_given_as_a_mask(case: str, mask: int, total: int, cores: int, given: int) -> None:
    """NEU-6: which knows cards of two cores only."""
    assert fit([card(mask=mask, total=total)], ask(1, cores)) == ([("a", given)], ""), case


@pytest.mark.parametrize(
    ("case", "cards", "cores", "reason"),
    [
        ("NEU-E14", [card(mask=3)], 1, "1/1 CardInsufficientCore"),
        ("NEU-E15", [card(mask=1)], 2, "1/1 CardInsufficientCore"),
        ("NEU-E16", [card(total=15)], 8, "1/1 CardInsufficientCore"),
        ("NEU-E19", [card(used=2)], 1, "1/1 CardTimeSlicingExhausted"),
        ("NEU-E19", [card(healthy=False)], 1, "1/1 CardNotHealth"),
        ("NEU-6", [card(type="awsneuron")], 1, "1/1 CardTypeMismatch"),
        (
            "NEU-E20",
            [card("a", 3, used=2), card("b", 1, used=1), card("c", 2, used=1)],
            2,
            "1/3 CardTimeSlicingExhausted, 2/3 CardInsufficientCore",
        ),
    ],
)
def test_a_card_is_refused_for_a_reason(case: str, cards: list[CardUsage], cores: int, reason: str) -> None:
    assert fit(cards, ask(1, cores)) == ([], reason), case


def test_ids_and_neighbours_matter_to_one_card() -> None:
    """NEU-E18, NEU-E19."""
    cards = [card("a"), card("b")]
    assert fit(cards, ask()) == ([("b", 3)], "")
    assert fit(cards, ask(), annotations={"aws.amazon.com/use-neuron-uuid": "a"}) == ([("a", 3)], "")
    unwanted = {"aws.amazon.com/nouse-neuron-uuid": "a"}
    assert fit([card("a")], ask(), annotations=unwanted) == ([], "1/1 CardUuidMismatch")
    busy = [card(mask=1, used=1)]
    assert fit(busy, ask(1, 1), policy="mutex") == ([], "1/1 ExclusiveDeviceAllocateConflict")


# Several cards


@pytest.mark.parametrize(
    ("case", "kind", "length", "used", "number", "first"),
    [
        ("NEU-E21", "inf2.24xlarge", 12, [1], 3, 2),
        ("NEU-E23", "trn1.32xlarge", 16, [1], 4, 4),
        ("NEU-E23", "trn1.32xlarge", 16, [7], 8, 8),
        ("NEU-E24", "inf1", 16, [5, 14], 8, 6),
        ("NEU-E28", "inf2", 4, [1], 2, 2),
    ],
)
def test_several_cards_are_neighbours(
    case: str, kind: str, length: int, used: list[int], number: int, first: int
) -> None:
    """NEU-5: each with all its cores."""
    expected = [(str(n), 3) for n in range(first, first + number)]
    assert fit(row(length, kind=kind, used=used), ask(number)) == (expected, ""), case


@pytest.mark.parametrize(
    ("case", "kind", "length", "used", "number"),
    [
        ("NEU-E22", "INF2", 4, [], 2),
        ("NEU-E22", "trn1", 4, [], 3),
        ("NEU-E23", "trn1", 16, [1, 5, 9, 13], 4),
        ("NEU-E23", "trn1", 16, [7, 13], 8),
        ("NEU-E25", "trn1", 6, [0], 4),
        ("NEU-5", "", 4, [], 2),
    ],
)
def test_there_may_be_no_window(case: str, kind: str, length: int, used: list[int], number: int) -> None:
    assert fit(row(length, kind=kind, used=used), ask(number)) == ([], f"1/{length} NumaNotFit"), case


def test_an_unhealthy_card_breaks_a_window() -> None:
    """NEU-5."""
    cards = row(4, kind="inf2")
    cards[1] = replace(cards[1], healthy=False)
    assert fit(cards, ask(2)) == ([("2", 3), ("3", 3)], "")


def test_ids_do_not_matter_to_several_cards() -> None:
    """NEU-E26."""
    wanted = {"aws.amazon.com/use-neuron-uuid": "zz"}
    assert fit(row(2, kind="inf2"), ask(2), annotations=wanted)[1] == ""


def test_places_are_taken_for_numbers() -> None:
    """NEU-5, NEU-E27: "mutex" has put the used card first, and so it is handed out."""
    cards = row(4, kind="inf2", used=[1])
    reordered = [cards[1], cards[0], cards[2], cards[3]]
    assert fit(reordered, ask(2), policy="mutex") == ([("1", 3), ("2", 3)], "")
    assert fit([*row(1, kind="inf2"), *reordered[2:]], ask(2)) == ([("0", 3)], "")  # there is no number 1


# Pods one after the other


class Machine:
    """One node, scheduled by the plain path. Usage is kept from decision to decision as shares and cores."""

    def __init__(self, cards: int, cores: int, kind: str = "inf2") -> None:
        self.neuron = backend(0)
        self.node = node(cards, cores, kind)
        self.cards = [CardUsage.idle(one) for one in self.neuron.node_cards(self.node)]

    def place(self, *containers: Container, init: tuple[Container, ...] = ()) -> dict[str, str] | str:
        """Return what is written for a pod, or why it does not fit."""
        pod = make_pod(containers=containers, init_containers=init, annotations={"hami.io/vgpu-node": "n1"})
        backends = {awsneuron.KEY: self.neuron}
        ask = Ask(pod, requests_of(pod, backends), backends, node_policy="binpack", card_policy="spread")
        outcome = predicate(ask, NodeUsage(self.node, 1, tuple(self.cards)))
        if outcome.devices is None:
            return outcome.reason
        held = outcome.devices[awsneuron.KEY]
        for allocation in [one for container in held[len(init) :] for one in container]:
            self.cards = [
                one.plus(shares=1, mem_mib=0, cores=allocation.cores) if one.id == allocation.card else one
                for one in self.cards
            ]
        return dict(self.neuron.annotations(pod, held, now_ns=7))


def limits(**amounts: int) -> Container:
    """Return a container that asks ``cards=`` or ``cores=``."""
    return make_container(limits={{"cards": COUNT, "cores": CORES}[key]: n for key, n in amounts.items()})


def ids(written: dict[str, str] | str) -> str:
    assert isinstance(written, dict), written
    return written.get("AWS_NEURON_IDS", "")


def test_the_node_is_told_cores() -> None:
    """NEU-8."""
    machine = Machine(2, 4)
    assert machine.place(limits(cores=1)) == {
        ALLOCATED: "n1-AWSNeuron-1,AWSNeuron,0,1:;",
        "AWS_NEURON_IDS": "2",
        "NEURON_RESOURCE_TYPE": CORES,
        "NEURON_ALLOC_TIME": "7",
        "NEURON_ALLOCATED": "false",
        "aws.amazon.com/predicate-node": "n1",
    }


def test_cores_are_given_one_by_one() -> None:
    """NEU-E29."""
    machine = Machine(2, 4)
    assert [ids(machine.place(limits(cores=1))) for _ in range(4)] == ["2", "3", "0", "1"]
    assert machine.place(limits(cores=1)) == "2/2 CardTimeSlicingExhausted"


def test_cards_in_the_limits_are_told_as_cards() -> None:
    """NEU-E30, NEU-E31."""
    machine = Machine(6, 12)
    written = machine.place(limits(cards=2))
    assert ids(written) == "0,1"
    assert "NEURON_RESOURCE_TYPE" not in written
    assert ids(machine.place(limits(cores=4))) == "4,5,6,7"
    assert ids(Machine(6, 12).place(make_container(requests={COUNT: 2}))) == "0,1,2,3"


@pytest.mark.parametrize(
    ("case", "containers", "init", "expected"),
    [
        ("NEU-E32", (limits(cards=1), limits(cores=1)), (), "5,8"),
        ("NEU-E33", (limits(cores=1), Container(), limits(cores=1)), (), "10,11"),
        ("NEU-E34", (limits(cores=1),), (limits(cores=2),), "10,11,10"),
    ],
)
def test_numbers_of_all_containers_stand_in_one_list(
    case: str, containers: tuple[Container, ...], init: tuple[Container, ...], expected: str
) -> None:
    """NEU-8."""
    assert ids(Machine(6, 12).place(*containers, init=init)) == expected, case


def test_a_container_that_asks_nothing_keeps_its_place() -> None:
    """NEU-E33."""
    written = Machine(6, 12).place(limits(cores=1), Container(), limits(cores=1))
    assert isinstance(written, dict)
    assert written[ALLOCATED] == "n1-AWSNeuron-5,AWSNeuron,0,1:;;n1-AWSNeuron-5,AWSNeuron,0,2:;"


def test_cores_beyond_the_second_are_never_told() -> None:
    """NEU-E35."""
    machine = Machine(1, 4)
    machine.place(limits(cards=1))
    for _ in range(3):
        assert machine.place(limits(cores=1)) == {ALLOCATED: "n1-AWSNeuron-0,AWSNeuron,0,0:;"}


def test_trainium_gives_aligned_windows() -> None:
    """NEU-E36."""
    machine = Machine(16, 32, "trn1.32xlarge")
    assert ids(machine.place(limits(cores=8))) == "0,1,2,3,4,5,6,7"
    assert ids(machine.place(limits(cores=2))) == "30,31"
    for first in (4, 8):
        assert ids(machine.place(limits(cards=4))) == ",".join(map(str, range(first, first + 4)))
    assert machine.place(limits(cores=8)) == "1/16 NumaNotFit"


def test_every_key_that_is_written_is_cleared_again() -> None:
    """Q-37."""
    assert set(Machine(1, 2).place(limits(cores=1))) == set(backend().written_keys)


@given(asked=st.lists(st.sampled_from([1, 2, 4]), max_size=12), kind=st.sampled_from(["inf2", "trn1"]))
def test_no_core_of_a_two_core_card_is_given_twice(asked: list[int], kind: str) -> None:
    """NEU-6, NEU-7: without "mutex", which hands out used cards (NEU-E27)."""
    machine = Machine(4, 8, kind)
    given = []
    for cores in asked:
        before = list(machine.cards)
        written = machine.place(limits(cores=cores))
        if isinstance(written, dict):
            given += ids(written).split(",")
        else:
            assert machine.cards == before
    assert len(given) == len(set(given)) <= 8
    assert all(one.cores_used in range(4) and one.shares_used <= 2 for one in machine.cards)


def test_one_decision_does_not_change_its_cards() -> None:
    machine = Machine(2, 4)
    pod: Pod = make_pod(containers=(limits(cores=1), limits(cores=1)))
    before = tuple(machine.cards)
    backends = {awsneuron.KEY: machine.neuron}
    ask = Ask(pod, requests_of(pod, backends), backends, node_policy="binpack", card_policy="spread")
    assert predicate(ask, NodeUsage(machine.node, 1, before)).devices is not None
    assert all("awsusageinfo" not in one.custom for one in before)
