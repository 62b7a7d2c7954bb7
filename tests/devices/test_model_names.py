"""Which cards of a node a vendor's fit gets to see (VA-16, F-29)."""

from dataclasses import replace

import pytest

from scheduler_app.core.predicate import Ask, Outcome, predicate, requests_of
from scheduler_app.core.types import Container, NodeUsage
from tests.devices.machines import MACHINES, Machine
from tests.factories import make_container, make_pod

CASE_MATTERS = {"Mthreads", "AWSNeuron"}  # S3, NEU-6: a candidate, and refused by its own vendor
MIG_PART_MIB = 4000  # a MIG card has no whole-card profile (NV-64)


@pytest.fixture(params=MACHINES, ids=str)
def machine(request: pytest.FixtureRequest) -> Machine:
    assert isinstance(request.param, Machine)
    return request.param


def one_card(machine: Machine) -> Container:
    names = machine.backend.names
    part = {names.mem: MIG_PART_MIB} if machine.model.name == "a100-mig" else {}
    return make_container(limits={names.count: 1, **part})


def renamed(machine: Machine, model: str) -> NodeUsage:
    """Return an idle node of two cards, which registered under another model."""
    usage = machine.idle(2).usage
    cards = tuple(replace(found, card=replace(found.card, type=model)) for found in usage.cards)
    return replace(usage, cards=cards)


def offer(machine: Machine, node: NodeUsage) -> Outcome:
    pod, backends = make_pod(containers=(one_card(machine),)), {machine.backend.vendor_key: machine.backend}
    return predicate(Ask(pod, requests_of(pod, backends), backends, "binpack", "spread"), node)


def test_a_model_that_does_not_name_its_vendor_is_no_candidate(machine: Machine) -> None:
    """VA-16: the node has two idle cards of this vendor, and still too few devices."""
    assert offer(machine, renamed(machine, "X-100")).reason == "NodeInsufficientDevice"


def test_a_model_may_name_its_vendor_in_any_case_and_anywhere(machine: Machine) -> None:
    """VA-16: what is no candidate ends with too few devices; what is one is looked at."""
    word = machine.backend.vendor_key
    outcome = offer(machine, renamed(machine, f"x-{word.swapcase()}106"))
    if word in CASE_MATTERS:
        assert outcome.reason == "2/2 CardTypeMismatch"
    else:
        assert outcome.devices is not None, outcome.reason
