"""What a node scores on top of the use of its cards (F-36, F-37), for every model of every vendor."""

import pytest

from scheduler_app.core import score
from scheduler_app.core.types import Container
from tests.devices.machines import MACHINES, Machine
from tests.devices.placing import OneNode
from tests.factories import make_container, make_pod

SCORING = {"Metax-GPU", "Metax-SGPU", "Vastai", "kunlun"}  # MX-9, MXS-15, VS-30, KL-11; and Ascend: ASC-50
PEAK = {"trn1": 4}  # NEU-5: it gives 1, 4, 8 or 16 cards
MIG_PART_MIB = 4000  # a MIG card has no whole-card profile (NV-64)
PLAIN = [
    one for one in MACHINES if one.vendor.name not in SCORING and not one.vendor.name.startswith("Ascend")
]


@pytest.fixture(params=PLAIN, ids=str)
def machine(request: pytest.FixtureRequest) -> Machine:
    assert isinstance(request.param, Machine)
    return request.param


def one_card(machine: Machine, *, cards: int = 1) -> Container:
    names = machine.backend.names
    part = {names.mem: MIG_PART_MIB} if machine.model.name == "a100-mig" else {}
    return make_container(limits={names.count: cards, **part})


def base(node: OneNode) -> float:
    return score.node_score(node.usage.cards)


@pytest.mark.parametrize("policy", ["binpack", "spread", ""])
def test_most_vendors_add_nothing_whatever_the_policy(machine: Machine, policy: str) -> None:
    """NV-72, AMD-40, BR-8, MLU-50, ILU-34: the node's score is that of its cards' use."""
    node = machine.idle(4)
    for _ in range(2):
        before = base(node)
        placed = node.place(one_card(machine), node_policy=policy)
        assert placed.devices is not None, placed.reason
        assert placed.score == before


def test_the_score_is_of_the_node_without_the_pod(machine: Machine) -> None:
    """Q-32: what the pod takes counts with the next pod; never where cards have no memory (F-36, NEU-2)."""
    node = machine.idle(4)
    first = node.place(one_card(machine))
    second = node.place(one_card(machine))
    has_memory = machine.model.mem_mib > 0
    assert (first.score, second.score > 0) == (0.0, has_memory)


def test_what_init_containers_take_at_their_peak_changes_no_score(machine: Machine) -> None:
    """F-39: of two pods with the same app container one has an init container that takes more."""
    node = machine.idle(8)
    node.place(one_card(machine))
    app = (one_card(machine),)
    more = one_card(machine, cards=PEAK.get(machine.model.name, 2))
    alone = node.offer(make_pod(containers=app))
    beside = node.offer(make_pod(containers=app, init_containers=(more,)))
    assert (alone.reason, beside.reason) == ("", "")
    assert alone.score == beside.score
