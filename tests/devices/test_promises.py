"""What every vendor promises, whatever is asked in whatever order, on a node of each kind of card it has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_app.core.types import CardUsage, Container, Pod
from tests.devices.machines import MACHINES, Machine
from tests.devices.placing import OneNode
from tests.factories import make_container, make_pod

CARDS = 4
SEVERAL_MODELS = {"Ascend910A", "Ascend910B2", "Ascend910B4", "Ascend910B4-1", "BI-V100", "BI-V150", "MR-V50"}
SAME_CARD = {"NVIDIA/l40s", "NVIDIA/t4", "DCU/z100l"}
KINDS = [m for m in MACHINES if m.vendor.name not in SEVERAL_MODELS and str(m) not in SAME_CARD]

POLICIES = ["spread", "binpack", "mutex", "topology-aware", "numa,binpack"]
EITHER = {"AWSNeuron", "Enflame"}  # a number, or else memory and cores (NEU-4, ENF-5)
MIB_A_UNIT = {"Enflame": 1024}  # where an amount of 1 is not what quotas count (ENF-5)
SOFT = {"huawei.com/vnpu-mode": "hami-core"}
CLASS, QOS = "metax-tech.com/sgpu-app-class", "metax-tech.com/sgpu-qos-policy"
WISHES: Mapping[str, list[dict[str, str]]] = {
    "NVIDIA": [{"nvidia.com/numa-bind": "true"}, {"nvidia.com/vgpu-mode": "mig,hami-core"}],
    "Metax-SGPU": [{CLASS: "online"}, {CLASS: "offline"}, {QOS: "fixed-share"}, {QOS: "best-effort"}],
    **{word: [SOFT] for word in ("Ascend310P", "Ascend910B3", "Ascend910C")},
}


@dataclass(frozen=True, slots=True)
class Wish:
    """A pod to come: what its containers ask, and how."""

    apps: tuple[Container, ...]
    init: tuple[Container, ...] = ()
    annotations: dict[str, str] = field(default_factory=dict)
    policy: str = "spread"

    def place(self, node: OneNode) -> Pod | None:
        """Return the pod as it was counted, None when the node refuses it."""
        outcome = node.place(*self.apps, init=self.init, annotations=self.annotations, policy=self.policy)
        return node.pods[-1] if outcome.devices is not None else None

    def fits(self, node: OneNode) -> bool:
        pod = make_pod(containers=self.apps, init_containers=self.init, annotations=self.annotations)
        return node.offer(pod, policy=self.policy).devices is not None


def containers(machine: Machine) -> st.SearchStrategy[Container]:
    """Return containers that ask cards, and parts of them where the vendor has parts."""
    names, vendor = machine.backend.names, machine.vendor.name
    most = machine.model.mem_mib // MIB_A_UNIT.get(vendor, max(names.mem_factor, 1))
    count = {names.count: st.sampled_from([1, 1, 1, 2, 3, 4])}
    amounts = {
        names.mem: st.sampled_from([0, most // 10, most // 4, most // 3, most * 3 // 5, most]),
        names.cores: st.sampled_from([0, 1, 2, 10, 50, 100]),
    }
    parts = {name: amount for name, amount in amounts.items() if name}
    asked = st.fixed_dictionaries(count, optional=parts)
    if vendor in EITHER:
        asked |= st.fixed_dictionaries({}, optional=parts)
    return asked.map(lambda limits: make_container(limits=limits))


def policies(machine: Machine) -> st.SearchStrategy[str]:
    """NEU-E27: under ``mutex`` the reference hands out cards of AWS Neuron that are in use."""
    left = ("mutex",) if machine.vendor.name == "AWSNeuron" else ()
    return st.sampled_from([policy for policy in POLICIES if policy not in left])


def wishes(machine: Machine, *, most: int = 2) -> st.SearchStrategy[Wish]:
    """Return pods of up to ``most`` app containers, and of as many init containers less one."""
    one = containers(machine)
    return st.builds(
        Wish,
        apps=st.lists(one, min_size=1, max_size=most).map(tuple),
        init=st.lists(one, max_size=most - 1).map(tuple),
        annotations=st.sampled_from([{}, *WISHES.get(machine.vendor.name, [])]),
        policy=policies(machine),
    )


def idle(machine: Machine, *, sick: int | None = None) -> OneNode:
    """Return a node without pods, on which Ascend's pods may split cards softly (ASC-41)."""
    return machine.idle(CARDS, sick=sick, annotations={"hami-vnpu-core": "true"})


def counted(cards: Sequence[CardUsage]) -> list[tuple[object, ...]]:
    """Return everything that pods do to each card."""
    return [
        (card.id, card.shares_used, card.mem_used_mib, card.cores_used, card.healthy, card.slices, card.marks)
        for card in cards
    ]


def cores_of(card: CardUsage) -> int:
    """Return what may be given of a card's cores. Ascend registers AI cores, soft split counts percent."""
    is_ascend = card.card.vendor.startswith("Ascend")
    return max(card.card.cores, 100) if is_ascend else card.card.cores  # ASC-44


@pytest.mark.parametrize("machine", KINDS, ids=str)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_card_gives_more_than_it_has_and_a_refused_pod_leaves_no_trace(
    machine: Machine, data: st.DataObject
) -> None:
    """VA-11, VB-13: shares, memory and cores; nobody is given a sick card."""
    node = idle(machine, sick=1)
    for wish in data.draw(st.lists(wishes(machine), max_size=8)):
        before = counted(node.usage.cards)
        if wish.place(node) is None:
            assert counted(node.usage.cards) == before
        for card in node.usage.cards:
            assert card.shares_used <= card.card.shares
            assert card.mem_used_mib <= card.card.mem_mib
            assert card.cores_used <= cores_of(card)
            assert card.card.healthy or not card.shares_used


@pytest.mark.parametrize("machine", KINDS, ids=str)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_what_pods_held_is_free_when_they_are_gone(machine: Machine, data: st.DataObject) -> None:
    """VA-15, VB-18, VC-12: in whatever order; and who only read their annotations counts the same."""
    node = idle(machine)
    free = counted(node.usage.cards)
    for wish in data.draw(st.lists(wishes(machine), max_size=5)):
        before = counted(node.usage.cards)
        pod = wish.place(node)
        if pod is not None and data.draw(st.booleans()):
            node.end(pod)
            assert counted(node.usage.cards) == before
    restarted = idle(machine)
    for pod in node.pods:
        restarted.state.see_pod(pod)
    assert counted(restarted.usage.cards) == counted(node.usage.cards)
    while node.pods:
        node.end(data.draw(st.sampled_from(node.pods)))
    assert counted(node.usage.cards) == free


@pytest.mark.parametrize("machine", KINDS, ids=str)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_who_fits_still_fits_when_others_go(machine: Machine, data: st.DataObject) -> None:
    """IF-13: more room never makes a refusal of a fit. Several containers get in each other's way (F-21)."""
    node = idle(machine)
    for wish in data.draw(st.lists(wishes(machine), min_size=1, max_size=6)):
        wish.place(node)
    wish = data.draw(wishes(machine, most=1))
    did_fit = wish.fits(node)
    while node.pods:
        node.end(data.draw(st.sampled_from(node.pods)))
        does_fit = wish.fits(node)
        assert does_fit or not did_fit
        did_fit = does_fit
