"""What all kinds of cards have in common, on a node of each kind: records, lookups, candidates, texts."""

import pytest

from scheduler_app.core import codec
from scheduler_app.core.backend import NO_PERCENTAGE, DeviceBackend
from scheduler_app.core.types import Container
from tests.devices.machines import MACHINES, SHIPPED, Machine
from tests.factories import make_container, make_draft

CARDS = 2
READS_LIMITS_ONLY = {"AMD", "Metax-SGPU"}  # AMD-12, MXS-6
MIG = "NVIDIA/a100-mig"  # serves parts only, and one card serves several times (F-29)
COUNTS_SLICES = "Enflame"  # of one card (ENF-5)


@pytest.fixture(params=MACHINES, ids=str)
def machine(request: pytest.FixtureRequest) -> Machine:
    assert isinstance(request.param, Machine)
    return request.param


def one_card(machine: Machine) -> Container:
    names = machine.backend.names
    part = {names.mem: 4000} if str(machine) == MIG else {}
    return make_container(limits={names.count: 1, **part})


def as_admitted(machine: Machine, container: Container) -> Container:
    """Return the container as the webhook leaves it."""
    draft = make_draft(container.name, limits=dict(container.limits), requests=dict(container.requests))
    machine.backend.mutate(draft, draft.pod)
    return make_container(container.name, limits=draft.limits, requests=draft.requests)


def test_a_request_is_five_values_of_the_vendors_own_word(machine: Machine) -> None:
    """VB-1, VC-1, IF-1, IF-9, MLU-1: nothing is asked without cards."""
    asked = machine.backend.request(as_admitted(machine, one_card(machine)))
    assert asked is not None
    assert (asked.cards >= 1, asked.type) == (True, machine.backend.vendor_key)
    assert asked.mem_mib >= 0
    assert 0 <= asked.mem_percent <= 100 or asked.mem_percent == NO_PERCENTAGE
    assert asked.cores >= 0
    nothing = machine.backend.request(make_container(limits={machine.backend.names.count: 0}))
    assert nothing is None or nothing.cards <= 0


def test_registered_cards_are_numbered_and_carry_the_vendors_word(machine: Machine) -> None:
    """VA-2, VB-2, VB-21, IF-6: whatever the node plugin wrote as vendor."""
    cards = machine.backend.node_cards(machine.node(CARDS))
    assert len({card.id for card in cards}) == len(cards) == CARDS
    assert {card.vendor for card in cards} == {machine.backend.vendor_key}
    assert all(card.shares > 0 and card.type for card in cards)


def test_an_idle_card_starts_at_nothing_and_counts_what_was_recorded(machine: Machine) -> None:
    """VA-3, VA-4, VB-3, VB-4, VB-10: the record names card, request type, memory and cores of that card."""
    node = machine.idle(CARDS)
    assert [(c.shares_used, c.mem_used_mib, c.cores_used) for c in node.usage.cards] == [(0, 0, 0)] * CARDS
    outcome = node.place(as_admitted(machine, one_card(machine)))
    assert outcome.devices is not None, outcome.reason
    (records,) = outcome.devices[machine.backend.vendor_key]
    for record in records:
        usage = node.card(str(record.card))
        assert usage.card.index == record.index
        assert (usage.mem_used_mib, usage.cores_used) == (record.mem_mib, record.cores)
        assert usage.shares_used == max(record.shares, 1)


def test_annotations_hold_one_segment_a_container(machine: Machine) -> None:
    """VB-19, VC-8, VA-12: `<id>,<type>,<mem>,<cores>:` a card, `;` a container; empty ones keep their place.

    Parity: VA-17, VB-11 and VC-10 tell where the reference loses places or writes separators only (Q-1).
    """
    node = machine.idle(CARDS)
    other = make_container("beside", limits={"cpu": 1})
    outcome = node.place(other, as_admitted(machine, one_card(machine)))
    assert outcome.devices is not None, outcome.reason
    text = node.written[machine.backend.keys.allocated]
    empty, held, end = text.split(";")
    assert (empty, end) == ("", "")
    _, records = outcome.devices[machine.backend.vendor_key]
    fields = [part.split(",") for part in held.rstrip(":").split(":")]
    assert [(f[0], int(f[2]), int(f[3])) for f in fields] == [
        (str(record.card), record.mem_mib, record.cores) for record in records
    ]
    assert codec.decode_devices(text)[0] == ()
    assert set(node.written) <= set(machine.backend.written_keys)


def test_a_vendor_that_is_not_asked_writes_nothing(machine: Machine) -> None:
    """IF-10: nor does a node's other vendor, which the reference lets write separators (VC-10)."""
    node = machine.idle(CARDS)
    node.place(make_container(limits={"cpu": 1}))
    assert node.written == {}


def test_a_count_of_zero_in_limits_hides_the_one_in_requests(machine: Machine) -> None:
    """VA-6, VB-8, VC-3: limits, and requests only where limits say nothing."""
    name = machine.backend.names.count
    found = machine.backend.request(make_container(limits={name: 0}, requests={name: 1}))
    assert found is None or found.cards <= 0
    only = machine.backend.request(make_container(requests={name: 1}))
    assert (only is None) == (machine.vendor.name in READS_LIMITS_ONLY)


@pytest.mark.parametrize(
    "machine", [m for m in MACHINES if str(m) != MIG and m.vendor.name != COUNTS_SLICES], ids=str
)
def test_more_cards_than_the_node_has_are_refused_without_looking_at_cards(machine: Machine) -> None:
    """VB-9, VC-4, F-29: candidates are cards whose model names the vendor."""
    many = make_container(limits={machine.backend.names.count: 1000})
    assert machine.idle(CARDS).place(many).reason == "NodeInsufficientDevice"


def test_few_vendors_have_a_node_score_of_their_own() -> None:
    """MLU-50, ILU-34: 0 for every node and policy; so have all that are not named here."""
    plain = DeviceBackend.score_node
    scoring = {str(key) for key, found in SHIPPED.backends.items() if type(found).score_node is not plain}
    ascend = {str(key) for key in SHIPPED.backends if key.startswith("Ascend")}
    assert scoring == {"Metax-GPU", "Metax-SGPU", "Vastai", "kunlun"} | ascend
