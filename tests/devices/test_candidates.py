"""Which cards a vendor is shown and in which order, and what is kept of its choice: every kind of card."""

from dataclasses import replace

import pytest

from scheduler_app.core.types import Container, Node
from tests.devices.machines import MACHINES, SHIPPED, Machine
from tests.devices.placing import OneNode
from tests.factories import make_container

SHARING = [  # kinds of which several pods can have a part, here a tenth of the memory
    machine
    for machine in MACHINES
    if machine.backend.names.mem and machine.vendor.name not in {"Mthreads", "Enflame"}
]
IN_ORDER = [machine for machine in SHARING if machine.vendor.name != "XPU"]  # KLV-4: it chooses by topology
WHOLE = [machine for machine in MACHINES if str(machine) != "NVIDIA/a100-mig"]  # MIG has no whole cards
COUNTED = [machine for machine in WHOLE if machine.vendor.name != "Enflame"]  # ENF-6: its cards are slices
NOTHING = make_container("nothing", limits={"cpu": 1})
WITHOUT_HANDOVER = {"Enflame", "kunlun", "AWSNeuron", "Mthreads"}  # DCF-15, MT-41: no to-allocate text


def whole(machine: Machine, *, cards: int = 1) -> Container:
    return make_container(limits={machine.backend.names.count: cards})


def tenth(machine: Machine) -> Container:
    names = machine.backend.names
    mem = machine.model.mem_mib // max(names.mem_factor, 1) // 10
    cores = {} if machine.vendor.name.startswith("Ascend") or not names.cores else {names.cores: 10}
    return make_container(limits={names.count: 1, names.mem: mem, **cores})


def other_than(machine: Machine) -> Machine:
    """Return a machine of another vendor: cards that a pod may find on the same node."""
    name = "MLU/mlu370" if machine.vendor.name == "DCU" else "DCU/z100l"
    return next(other for other in MACHINES if str(other) == name)


def mixed(machine: Machine, *, cards: int = 2) -> OneNode:
    """Return a node with as many cards of another vendor beside the machine's own."""
    own, more = machine.node(cards), other_than(machine).node(cards)
    both: Node = replace(
        own,
        annotations={**more.annotations, **own.annotations},
        capacity={**more.capacity, **own.capacity},
        allocatable={**more.allocatable, **own.allocatable},
    )
    return OneNode(*SHIPPED.backends.values(), node=both)


@pytest.mark.parametrize("machine", COUNTED, ids=str)
def test_more_cards_than_a_node_has_never_reach_the_vendor(machine: Machine) -> None:
    """VB-9, VC-4: the bare word, whatever else is on the node; as many as there are do reach it."""
    node = mixed(machine)
    assert len(node.usage.cards) == 4
    assert node.place(whole(machine, cards=3)).reason == "NodeInsufficientDevice"
    assert node.place(whole(machine, cards=2)).reason != "NodeInsufficientDevice"


@pytest.mark.parametrize("machine", IN_ORDER, ids=str)
def test_cards_come_in_the_order_of_the_policy(machine: Machine) -> None:
    """VB-9, VC-4: the last idle card; then ``spread`` leaves the card in use alone, ``binpack`` fills it."""
    taken = {}
    for policy in ("spread", "binpack"):
        node = machine.idle(3)
        places = [node.place(tenth(machine), policy=policy) for _ in range(2)]
        taken[policy] = [node.taken(placed, machine.vendor.name)[0][0] for placed in places]
    ids = [card.id for card in machine.idle(3).usage.cards]
    assert taken == {"spread": [ids[2], ids[1]], "binpack": [ids[2], ids[2]]}


@pytest.mark.parametrize("machine", SHARING, ids=str)
@pytest.mark.parametrize(
    ("policy", "fits"), [(" mutex , x", False), ("binpack,mutex", False), ("mutexes", True)]
)
def test_mutex_among_the_words_of_a_policy_keeps_others_off_a_card(
    machine: Machine, policy: str, fits: bool
) -> None:
    """VB-12, VC-7."""
    node = machine.idle(1)
    assert node.place(tenth(machine), policy=policy).devices is not None
    again = node.place(tenth(machine), policy=policy)
    assert again.reason == ("" if fits else "1/1 ExclusiveDeviceAllocateConflict")


@pytest.mark.parametrize("machine", WHOLE, ids=str)
def test_positions_are_kept_and_vendors_that_are_merely_there_write_nothing(machine: Machine) -> None:
    """IF-10, VA-17, VB-11, VB-19, VC-8, VC-10; VB-E20, VC-E1 and DCU-E32 as Q-1 decides."""
    node, backend = mixed(machine), machine.backend
    outcome = node.place(NOTHING, whole(machine), NOTHING, init=(NOTHING,))
    assert outcome.devices is not None, outcome.reason
    assert set(outcome.devices) == {backend.vendor_key}
    ((), (), (held,), ()) = outcome.devices[backend.vendor_key]
    text = f";;{held.card},{held.type},{held.mem_mib},{held.cores}:;;"
    assert node.written[backend.keys.allocated] == text
    handover = None if machine.vendor.name in WITHOUT_HANDOVER else text
    assert node.written.get(backend.keys.to_allocate) == handover
    assert set(node.written) <= set(backend.written_keys)


@pytest.mark.parametrize("machine", COUNTED, ids=str)
def test_what_a_container_is_given_counts_at_once_under_each_type_it_asks(machine: Machine) -> None:
    """VB-10: the card is found by its id, and nobody after it finds it idle."""
    other = other_than(machine)
    both = make_container(limits={**whole(machine).limits, **whole(other).limits})
    assert mixed(machine, cards=1).place(both, whole(machine)).devices is None
    node = mixed(machine, cards=1)
    outcome = node.place(both)
    assert outcome.devices is not None, outcome.reason
    assert set(outcome.devices) == {machine.vendor.name, other.vendor.name}
    assert [card.shares_used for card in node.usage.cards] == [1, 1]
