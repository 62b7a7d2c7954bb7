"""AWS Neuron: pods one after the other, and what nodes are told. Rules NEU-8, NEU-9, NEU-E30 to NEU-E36."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.predicate import Ask, predicate, requests_of
from scheduler_app.core.types import CardUsage, Container, NodeUsage, Pod
from scheduler_app.devices import awsneuron
from tests.devices.neuron import ALLOCATED, CORES, COUNT, backend, node
from tests.factories import make_container, make_pod


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
