"""What simulated plugins write of cards is what the product reads, for every model of every vendor."""

import pytest

from scheduler_app import deviceconfig, vendortable
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import Card
from scheduler_app.kube.decode import decode_node
from simcluster import fleet
from simcluster.fleet import Model, Vendor
from simcluster.nodes import NodeRecord

CONFIG = deviceconfig.load(vendortable.CONFIG.read_text(encoding="utf-8"), vendortable.all_enabled())
MODELS = [
    pytest.param(vendor, model, id=f"{vendor.name}/{model.name}")
    for vendor in map(fleet.vendor, fleet.vendor_names())
    for model in vendor.models
]
CARDS = 8


def cards_read(vendor: Vendor, model: Model, *, sick: int | None = None) -> dict[str, tuple[Card, ...]]:
    """Return the cards of a node by the key of each backend that finds any."""
    health = [place != sick for place in range(CARDS)]
    body = NodeRecord("n1", vendor, model, health, 1).body()
    node = decode_node(body)
    found = {}
    for key, backend in CONFIG.backends.items():
        try:
            found[str(key)] = backend.node_cards(node)
        except CodecError:
            continue
    return {key: cards for key, cards in found.items() if cards}


@pytest.mark.parametrize(("vendor", "model"), MODELS)
def test_a_node_registers_its_cards_with_its_own_backend_and_no_other(vendor: Vendor, model: Model) -> None:
    """P-3 to P-6, MX-2, MXS-3, GCU-2, ENF-3, KL-2, KLV-2, NEU-2, MT-3, MLU-12."""
    ((key, cards),) = cards_read(vendor, model).items()
    assert key == vendor.name
    assert [card.index for card in cards] == list(range(CARDS))
    assert [card.id for card in cards] == [fleet.card_id(model, "n1", place) for place in range(CARDS)]
    kinds = {(card.vendor, card.mem_mib, card.type, card.healthy) for card in cards}
    assert kinds == {(vendor.name, model.mem_mib, model.type, True)}
    assert all(card.shares >= vendor.shares or card.mode == "mig" for card in cards)


@pytest.mark.parametrize(
    "vendor", [fleet.vendor(name) for name in fleet.vendor_names()], ids=fleet.vendor_names()
)
def test_a_sick_card_is_registered_as_one_where_the_plugin_can_say_so(vendor: Vendor) -> None:
    """Capacity says only how many there are (MX-2), and Enflame's text knows no health (ENF-3)."""
    entry = vendor.register.get("entry") or {}
    (cards,) = cards_read(vendor, vendor.models[0], sick=1).values()
    sick = [card.index for card in cards if not card.healthy]
    assert sick == ([1] if "{health}" in entry.values() else [])


def test_nvidias_cards_are_in_the_mode_of_their_node() -> None:
    """NVP-4: one for all of them, ``hami-core`` unless they are cut."""
    vendor = fleet.vendor("nvidia")
    modes = {}
    for model in vendor.models:
        (cards,) = cards_read(vendor, model).values()
        modes[model.name] = [card.mode for card in cards]
    shared = ["hami-core"] * CARDS
    assert modes == {"a100": shared, "l40s": shared, "t4": shared, "a100-mig": ["mig"] * CARDS}


def test_a_mig_card_registers_its_profiles_and_places() -> None:
    """NVP-2, NVP-3."""
    vendor = fleet.vendor("nvidia")
    (cards,) = cards_read(vendor, vendor.model("a100-mig")).values()
    assert {(card.mode, card.shares) for card in cards} == {("mig", 7)}
    profiles = {profile.name: len(profile.placements) for profile in cards[0].profiles}
    assert profiles == {"1g.10gb": 7, "2g.20gb": 3, "3g.40gb": 2, "7g.79gb": 1}


def test_what_vendors_say_beside_the_numbers_arrives() -> None:
    """ASC-42, MXS-3, VS-2, ENF-3, NEU-2."""

    def custom(name: str) -> list[dict[str, object]]:
        vendor = fleet.vendor(name)
        (cards,) = cards_read(vendor, vendor.models[0]).values()
        return [dict(card.custom) for card in cards]

    assert [row["NetworkID"] for row in custom("Ascend910B3")] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert [row["LinkZone"] for row in custom("Metax-SGPU")] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert [row["AIC"] for row in custom("Vastai")][:4] == ["aic-1", "aic-1", "aic-2", "aic-2"]
    assert {row["minor"] for row in custom("Enflame")} == set("01234567")
    assert {row["AWSNodeType"] for row in custom("AWSNeuron")} == {"inf2.48xlarge"}
