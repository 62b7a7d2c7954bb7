"""The annotations that tell the Ascend plugin which cards to cut, and how."""

import pytest

from scheduler_app.core.types import Allocation, CardId, Containers
from tests.devices.ascend.chips import CHIP_A, CHIP_P, make_ascend
from tests.factories import make_pod

NOW_NS = 1_767_323_045_987_654_321
SOFT = {"huawei.com/vnpu-mode": "hami-core"}


def given(card: str, mem_mib: int, cores: int = 0) -> Allocation:
    return Allocation(CardId(card), "Ascend910A", mem_mib, cores)


def handover(containers: Containers, annotations: dict[str, str] | None = None) -> str:
    pod = make_pod(annotations=annotations or {})
    return make_ascend().annotations(pod, containers, now_ns=NOW_NS)["huawei.com/Ascend910A"]


def test_device_text_and_time_are_written_along() -> None:
    """ASC-8, ASC-60, ASC-E56: these four and no others."""
    written = make_ascend().annotations(make_pod(), ((given("u0", 2184),),), now_ns=NOW_NS)
    assert written == {
        "hami.io/Ascend910A-devices-to-allocate": "u0,Ascend910A,2184,0:;",
        "hami.io/Ascend910A-devices-allocated": "u0,Ascend910A,2184,0:;",
        "predicate-time": "1767323045",
        "huawei.com/Ascend910A": '[{"UUID":"u0","temp":"vir02","memory":2184}]',
    }
    assert set(written) == set(make_ascend().written_keys)


@pytest.mark.parametrize(
    ("containers", "text"),
    [
        (
            ((given("u0", 32768), given("u1", 32768)),),
            '[{"UUID":"u0","memory":32768},{"UUID":"u1","memory":32768}]',
        ),
        (
            ((), (given("u0", 2184),), (given("u1", 8738),)),
            '[{"UUID":"u0","temp":"vir02","memory":2184},{"UUID":"u1","temp":"vir08","memory":8738}]',
        ),
        (((given("u0", 0),),), '[{"UUID":"u0","temp":"vir02"}]'),
        (((given("u0", 3000),),), '[{"UUID":"u0","temp":"vir04","memory":3000}]'),
        (((given("u0", 40000),),), '[{"UUID":"u0","memory":40000}]'),
        (((), ()), "null"),
    ],
)
def test_all_containers_cards_stand_in_one_list(containers: Containers, text: str) -> None:
    """ASC-60 to ASC-62, ASC-E57, ASC-E58, ASC-E60, ASC-E61: a template's name for slices only."""
    assert handover(containers) == text


def test_soft_split_names_cores_and_no_template() -> None:
    """ASC-61, ASC-E59."""
    assert handover(((given("u0", 15360, 20),),), SOFT) == '[{"UUID":"u0","memory":15360,"core":20}]'


def test_characters_of_markup_are_escaped() -> None:
    """ASC-60: as the reference's JSON writer does."""
    text = handover(((given("<u&0>", 32768),),))
    assert text == '[{"UUID":"\\u003cu\\u00260\\u003e","memory":32768}]'


def test_the_key_is_the_chips_word_whatever_its_resource_is_called() -> None:
    """ASC-60."""
    assert "huawei.com/Ascend310P" in make_ascend(CHIP_P).written_keys
    assert make_ascend(CHIP_A).keys.allocated == "hami.io/Ascend910A-devices-allocated"
