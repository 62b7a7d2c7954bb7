"""What becomes of a card on its way from the node into the picture and to a pod: every kind of card."""

import json
from dataclasses import replace

import pytest

from scheduler_app.core import codec
from scheduler_app.core.float32 import f32
from scheduler_app.core.score import node_score
from scheduler_app.core.types import NOTHING, Allocation
from tests.devices.machines import MACHINES, Machine
from tests.devices.placing import OneNode
from tests.factories import make_container

WHOLE = [machine for machine in MACHINES if str(machine) != "NVIDIA/a100-mig"]  # MIG has no whole cards
LISTED = [  # VB-21, P-4: the common JSON form
    machine
    for machine in WHOLE
    if machine.vendor.register["form"] == "json" and "around" not in machine.vendor.register
]
SICKENING = [machine for machine in WHOLE if machine.vendor.register["form"] != "none"]
SCORING = {"Metax-GPU", "Metax-SGPU", "Vastai", "kunlun"}  # and Ascend910


def one_card(machine: Machine) -> tuple[OneNode, Allocation]:
    """Return a node of two cards after a pod was given one, and what the pod was given."""
    node = machine.idle(2)
    outcome = node.place(make_container(limits={machine.backend.names.count: 1}))
    assert outcome.devices is not None, outcome.reason
    ((held,),) = outcome.devices[machine.backend.vendor_key]
    return node, held


@pytest.mark.parametrize("machine", [m for m in LISTED if m.vendor.name != "Metax-SGPU"], ids=str)
def test_whatever_vendor_a_node_names_its_cards_are_those_of_the_key(machine: Machine) -> None:
    """VA-2, VB-2, VB-21: keys in any case, unknown ones ignored, and ``custominfo`` as it came."""
    node, backend = machine.node(2), machine.backend
    entries = [
        {
            **{key.upper(): value for key, value in entry.items()},
            "deviceVendor": "another",
            "surprise": [1],
            "customInfo": {"NetworkID": n + 0.5, "own": {"a": None}},
        }
        for n, entry in enumerate(json.loads(node.annotations[backend.keys.register]))
    ]
    odd = replace(node, annotations={**node.annotations, backend.keys.register: json.dumps(entries)})
    plain = backend.node_cards(node)
    assert [card.vendor for card in plain] == [backend.vendor_key] * 2
    expected = [{"NetworkID": 0.5, "own": {"a": None}}, {"NetworkID": 1.5, "own": {"a": None}}]
    assert [dict(card.custom) for card in backend.node_cards(odd)] == expected
    assert [replace(card, custom={}) for card in backend.node_cards(odd)] == [
        replace(card, custom={}) for card in plain
    ]


@pytest.mark.parametrize("machine", SICKENING, ids=str)
def test_a_card_begins_idle_with_what_its_node_registered(machine: Machine) -> None:
    """VA-3, VB-3: totals, health and what else it says are the node's; nothing is used."""
    node = machine.idle(3, sick=1)
    cards = machine.backend.node_cards(node.node)
    assert [usage.card for usage in node.usage.cards] == list(cards)
    for usage, card in zip(node.usage.cards, cards, strict=True):
        assert (usage.shares_used, usage.mem_used_mib, usage.cores_used) == (0, 0, 0)
        assert (usage.healthy, usage.custom) == (card.healthy, card.custom)
        assert (usage.mem_free_mib, usage.cores_free) == (card.mem_mib, card.cores)


@pytest.mark.parametrize("machine", WHOLE, ids=str)
def test_recorded_pods_make_a_card_s_use(machine: Machine) -> None:
    """VB-3, VB-18: one share, and the record's memory and cores."""
    node, held = one_card(machine)
    usage = node.card(held.card)
    assert (usage.shares_used, usage.mem_used_mib, usage.cores_used) == (1, held.mem_mib, held.cores)
    assert [card.shares_used for card in node.usage.cards if card.id != held.card] == [0]


@pytest.mark.parametrize("machine", WHOLE, ids=str)
def test_a_record_has_the_card_s_place_until_it_is_written(machine: Machine) -> None:
    """VA-4, VB-4: neither the index nor what else a card says of itself is in the annotation."""
    node, held = one_card(machine)
    assert held.index == node.card(held.card).card.index
    assert held.type == (machine.model.type if machine.vendor.name == "AMD" else machine.vendor.name)
    (read,) = codec.decode_devices(node.written[machine.backend.keys.allocated])[0]
    assert (read.card, read.type, read.mem_mib, read.cores) == (
        held.card,
        held.type,
        held.mem_mib,
        held.cores,
    )
    assert (read.index, read.custom) == (0, NOTHING)


@pytest.mark.parametrize(
    "machine",
    [m for m in WHOLE if m.vendor.name not in SCORING and "Ascend910" not in m.vendor.name],
    ids=str,
)
def test_most_vendors_add_nothing_to_a_node_s_score(machine: Machine) -> None:
    """MLU-50, DCU-42, ILU-34, ASC-50: of two cards that lie together as well."""
    node = machine.idle(2)
    container = make_container(limits={machine.backend.names.count: 1})
    assert node.place(container).devices is not None
    before = node_score(node.usage.cards)
    outcome = node.place(container)
    assert outcome.devices is not None, outcome.reason
    assert outcome.score == f32(before)
