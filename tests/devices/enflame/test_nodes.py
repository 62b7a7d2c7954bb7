"""What a node says of cards that can be sliced. Rule ENF-3, cases ENF-E11 to ENF-E16."""

from datetime import datetime

import pytest

from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from tests.devices.enflame.slices import DRS, PROFILES, REGISTER, drs_node
from tests.factories import make_node


def test_cards_are_numbered_as_the_node_numbers_them() -> None:
    """ENF-E11."""
    first, second = DRS.node_cards(
        drs_node([{"index": "0", "minor": "0", "capacity": 6}, {"index": "3", "capacity": "4"}])
    )
    assert (first.id, first.index, first.shares) == ("n1-enflame-drs-0", 0, 6)
    assert (second.id, second.index, second.shares) == ("n1-enflame-drs-3", 3, 4)
    assert second.custom == {"minor": "3", "index": "3", "profiles": PROFILES, "maxSlice": 6}
    assert all((card.mem_mib, card.cores, card.numa) == (40960, 100, 0) for card in (first, second))


@pytest.mark.parametrize(
    ("device", "id", "minor"),
    [
        ({"index": "x", "minor": " 7 ", "capacity": 6}, "n1-enflame-drs-0", "7"),
        ({"index": "-1", "capacity": 6}, "n1-enflame-drs--1", "-1"),
        ({"INDEX": "2", "Capacity": 6}, "n1-enflame-drs-2", "2"),
        ({"index": None, "capacity": 6}, "n1-enflame-drs-0", "0"),
    ],
)
def test_an_index_that_cannot_be_read_is_the_place_in_the_list(
    device: dict[str, object], id: str, minor: str
) -> None:
    """ENF-E12."""
    (card,) = DRS.node_cards(drs_node([device]))
    assert (card.id, card.custom["minor"]) == (id, minor)


@pytest.mark.parametrize(
    ("capacity", "shares"), [(6.9, 6), (" 6 ", 6), ("2147483648", 2147483647), (2147483647, 2147483647)]
)
def test_a_capacity_is_a_number_or_a_text(capacity: object, shares: int) -> None:
    """ENF-E13."""
    (card,) = DRS.node_cards(drs_node([{"index": "0", "capacity": capacity}]))
    assert card.shares == shares


@pytest.mark.parametrize("capacity", [2147483648, 0.5, None, True, "6.0", "", 0, -2, [6], 1e300])
def test_one_bad_capacity_spoils_the_whole_list(capacity: object) -> None:
    """ENF-E13."""
    node = drs_node([{"index": "0", "capacity": 6}, {"index": "1", "capacity": capacity}])
    with pytest.raises(CodecError, match="invalid drs capacity on node n1"):
        DRS.node_cards(node)


@pytest.mark.parametrize(("profiles", "mem_mib"), [({"4g.xx": "0"}, 4096), ({"3g.24gbgb": "0"}, 3072)])
def test_without_memory_in_any_profile_a_slice_counts_as_a_gb(profiles: dict[str, str], mem_mib: int) -> None:
    """ENF-E16."""
    (card,) = DRS.node_cards(drs_node(profiles=profiles))
    assert card.mem_mib == mem_mib


@pytest.mark.parametrize("name", ["3 g.24gb", "3gg.24gb", "3g", "g.24gb", "0g.5gb", "-3g.24gb"])
def test_a_node_needs_a_profile_that_can_be_read(name: str) -> None:
    """ENF-E15."""
    with pytest.raises(CodecError, match="no valid drs profiles found on node n1"):
        DRS.node_cards(drs_node(profiles={name: "0"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", f"failed to parse {REGISTER}: not JSON"),
        ("[]", f"failed to parse {REGISTER}: annotation: expected an object"),
        ('{"devices":{}}', f"failed to parse {REGISTER}: expected devices to be an array"),
        ('{"devices":[{"index":0}]}', rf"failed to parse {REGISTER}: devices\[0\].index: expected a text"),
        ('{"profiles":{"1g.6gb":0}}', f"failed to parse {REGISTER}: profiles.1g.6gb: expected a text"),
        ("null", "no valid drs profiles found on node n1"),
        ('{"devices":[],"profiles":{"1g.4294967296gb":"0"}}', "is out of range"),
    ],
)
def test_a_text_of_another_shape_is_an_error_that_names_the_place(text: str, message: str) -> None:
    """ENF-3, ENF-E12."""
    with pytest.raises(CodecError, match=message):
        DRS.node_cards(make_node("n1", annotations={REGISTER: text}))


def test_a_node_may_say_nothing_or_that_it_has_none() -> None:
    """ENF-3, N06: an empty list is no error of form."""
    with pytest.raises(CodecError, match=f"annotation not found {REGISTER}") as missing:
        DRS.node_cards(make_node("n1"))
    assert not isinstance(missing.value, EmptyRegistrationError)
    with pytest.raises(EmptyRegistrationError, match="no drs devices found on node n1"):
        DRS.node_cards(drs_node([]))


def test_a_node_is_always_healthy() -> None:
    """ENF-3, VC-9."""
    health = DRS.health(make_node(), now=datetime(2026, 1, 2))  # noqa: DTZ001  (stamps carry no zone)
    assert (health.healthy, health.needs_update, health.stamp) == (True, True, False)
    assert DRS.cleanup_keys == ()
