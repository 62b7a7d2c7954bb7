"""What a container asks of an Ascend chip, and what a node says of its cards."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from scheduler_app.core.backend import Health
from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from scheduler_app.core.types import CardRequest, VendorKey
from scheduler_app.devices.ascend.backend import VENDOR
from scheduler_app.devices.ascend.config import Config, Template
from tests.devices.ascend.chips import CHIP_A, CHIP_P, make_ascend
from tests.factories import make_container, make_node

KEY = VendorKey("Ascend910A")
REGISTER = "hami.io/node-register-Ascend910A"
HANDSHAKE = "hami.io/node-handshake-Ascend910A"


def request(*, factor: int = 1, **amounts: Any) -> CardRequest | None:
    names = {"count": "huawei.com/Ascend910A"}
    names |= {key: f"huawei.com/Ascend910A-{key}" for key in ("memory", "core")}
    container = make_container(limits={names[key]: value for key, value in amounts.items()})
    return make_ascend(replace(CHIP_A, memory_factor=factor)).request(container)


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ({"count": 1, "memory": 32768}, CardRequest(1, KEY, 32768)),
        ({"count": 1}, CardRequest(1, KEY, 0, 100)),
        ({"count": 1, "memory": 0}, CardRequest(1, KEY, 0, 100)),
        ({"count": 1, "memory": "100Ti"}, CardRequest(1, KEY, 0, 100)),
        ({"count": 1, "memory": "100m"}, CardRequest(1, KEY, 0, 100)),
        ({"count": 1, "memory": 100000}, CardRequest(1, KEY, 100000)),
        ({"count": 1, "core": "10500m"}, CardRequest(1, KEY, 0, 100, 11)),
        ({"count": 1, "core": 500}, CardRequest(1, KEY, 0, 100, 500)),
        ({"count": 2147483647, "memory": 5}, CardRequest(2147483647, KEY, 5)),
    ],
)
def test_amounts_are_read_as_written(amounts: dict[str, Any], expected: CardRequest) -> None:
    """ASC-30 to ASC-33, ASC-E01, ASC-E09, ASC-E10, ASC-E24, ASC-E26."""
    assert request(**amounts) == expected


@pytest.mark.parametrize(
    "amounts",
    [
        *({"count": count} for count in ("1500m", 2200000000, 0, -1)),
        *({"count": 1, "memory": memory} for memory in ("1Ti", "16Gi", "-1m", -100)),
        *({"count": 1, "core": core} for core in (-1, 2200000000)),
        {"memory": 10},
    ],
)
def test_what_cannot_be_served_asks_nothing(amounts: dict[str, Any]) -> None:
    """ASC-30 to ASC-32, ASC-E23, ASC-E25, ASC-E27."""
    assert request(**amounts) is None


@pytest.mark.parametrize(
    ("factor", "memory", "expected"),
    [(10, 128, 1280), (100, 128, 12800), (0, 128, 128), (10, 300000000, None), (2, 1073741824, None)],
)
def test_memory_counts_in_the_chips_unit(factor: int, memory: int, expected: int | None) -> None:
    """ASC-31, ASC-E28, ASC-E29."""
    found = request(factor=factor, count=1, memory=memory)
    assert (found and found.mem_mib) == expected


def test_a_chip_without_core_resource_asks_no_cores() -> None:
    """ASC-32."""
    backend = make_ascend(replace(CHIP_A, resource_core_name=""))
    container = make_container(limits={"huawei.com/Ascend910A": 1, "": 5})
    assert backend.request(container) == CardRequest(1, KEY, 0, 100, 0)


@pytest.mark.parametrize(
    ("mem_mib", "expected"),
    [
        (-5, Template("vir02", 2184)),
        (0, Template("vir02", 2184)),
        (2184, Template("vir02", 2184)),
        (2185, Template("vir04", 4369)),
        (17477, Template("", 32768)),
        (32768, Template("", 32768)),
        (32769, Template("", 0)),
    ],
)
def test_memory_is_rounded_up_to_a_template(mem_mib: int, expected: Template) -> None:
    """ASC-4, ASC-14: whatever order the configuration has them in."""
    assert CHIP_A.template_for(mem_mib) == expected


def test_a_node_registers_its_cards_as_json() -> None:
    """ASC-13, VB-21, ASC-E32: names of members in any case, absent ones zero."""
    text = (
        '[{"id":"u0","index":3,"count":7,"devmem":32768,"devcore":30,"type":"Ascend910A","numa":1,'
        '"health":true,"custominfo":{"NetworkID":1}},{"ID":"u1","INDEX":0}]'
    )
    first, second = make_ascend().node_cards(make_node(annotations={REGISTER: text}))
    assert (first.id, first.vendor, first.index, first.shares, first.mem_mib, first.cores, first.numa) == (
        "u0",
        KEY,
        3,
        7,
        32768,
        30,
        1,
    )
    assert first.custom == {"NetworkID": 1}
    assert (second.id, second.vendor, second.healthy, second.shares) == ("u1", KEY, False, 0)


def test_a_node_without_the_annotation_is_told_so() -> None:
    """ASC-10, ASC-E31."""
    with pytest.raises(CodecError, match=f"annos not found {REGISTER}"):
        make_ascend().node_cards(make_node())


@pytest.mark.parametrize("text", ["[]", "null"])
def test_a_node_without_cards_is_told_so(text: str) -> None:
    """ASC-12, ASC-E31, N06."""
    with pytest.raises(EmptyRegistrationError, match="no device found on node"):
        make_ascend().node_cards(make_node(annotations={REGISTER: text}))


@pytest.mark.parametrize(
    "text",
    [
        '[{"index":-1}]',
        '[{"devmem":3000000000}]',
        '[{"devmem":1.5}]',
        '[{"custominfo":{"NetworkID":1e999}}]',
        "{",
    ],
)
def test_a_registration_that_cannot_be_read_is_an_error(text: str) -> None:
    """ASC-11, VB-21, ASC-E33."""
    with pytest.raises(CodecError):
        make_ascend().node_cards(make_node(annotations={REGISTER: text}))


NOW = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001  (the protocol's stamps carry no zone)


@pytest.mark.parametrize(
    ("text", "allocatable", "expected"),
    [
        (None, 0, (True, True)),
        ("Reported 2026-01-02", 0, (True, True)),
        ("Deleted_2026-01-02 03:04:05", 0, (True, True)),
        ("Requesting_2026-01-02 03:03:06", 0, (True, False)),
        ("Requesting_2026-01-02 03:03:04", 0, (False, False)),
        ("Requesting_2026-01-02 03:03:04", 4, (True, False)),
        ("Requesting", 0, (True, False)),
        ("Requesting_xx", 0, (True, False)),
        ("Requesting_2026.01.02 03:03:04", 0, (True, False)),
    ],
)
def test_the_handshake_says_whether_the_plugin_lives(
    text: str | None, allocatable: int, expected: tuple[bool, bool]
) -> None:
    """ASC-35, VB-22."""
    node = make_node(
        annotations={} if text is None else {HANDSHAKE: text},
        allocatable={"huawei.com/Ascend910A": str(allocatable)},
    )
    health = make_ascend().health(node, now=NOW)
    assert (health.healthy, health.needs_update) == expected
    assert health.stamp == health.needs_update


def test_a_stamp_is_valid_for_a_minute() -> None:
    """VB-22."""
    node = make_node(annotations={HANDSHAKE: f"Requesting_{NOW:%Y-%m-%d %H:%M:%S}"})
    backend = make_ascend()
    assert backend.health(node, now=NOW + timedelta(seconds=59)) == Health(healthy=True, needs_update=False)
    assert backend.health(node, now=NOW + timedelta(seconds=60)) == Health(healthy=False, needs_update=False)


def test_a_vendor_that_is_gone_takes_its_handshake_along() -> None:
    """ASC-37."""
    assert make_ascend().cleanup_keys == (HANDSHAKE,)


def test_each_chip_is_a_backend_of_its_own() -> None:
    """ASC-1, ASC-38: key, resource names and lock are the chip's; ``hamiVnpuCore`` alone is nothing."""
    built = VENDOR.build(Config(configs=(CHIP_A, CHIP_P)))
    assert [backend.vendor_key for backend in built] == ["Ascend910A", "Ascend310P"]
    assert built[0].names.mem_factor == 1
    assert built[0].node_lock is not None
    assert built[0].node_lock.annotation == "hami.io/mutex.lock"
    assert VENDOR.is_configured is not None
    assert not VENDOR.is_configured(Config(hami_vnpu_core=True))
    assert VENDOR.is_configured(Config(configs=(CHIP_A,)))
