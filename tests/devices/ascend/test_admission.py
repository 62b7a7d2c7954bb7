"""What admission makes of a container that asks for an Ascend chip."""

from dataclasses import replace
from typing import Any

import pytest

from scheduler_app.core.admission import ContainerDraft
from scheduler_app.core.errors import AdmissionError
from scheduler_app.devices.ascend import split
from scheduler_app.devices.ascend.config import Chip
from tests.devices.ascend.chips import CHIP_A, CHIP_C, CHIP_P, make_ascend
from tests.factories import make_draft


def draft(chip: Chip, *, mode: str = "", name: str = "main", **groups: dict[str, Any]) -> ContainerDraft:
    """Return a container whose resources are written ``count``, ``memory`` and ``core``."""
    names = {
        "count": chip.resource_name,
        "memory": chip.resource_memory_name,
        "core": chip.resource_core_name,
    }
    container = make_draft(
        name,
        **{group: {names[key]: value for key, value in given.items()} for group, given in groups.items()},
    )
    if mode:
        container.pod.raw["metadata"]["annotations"] = {split.MODE: mode}
    return container


def mutate(chip: Chip, container: ContainerDraft) -> bool:
    return make_ascend(chip).mutate(container, container.pod)


MEMORY = [  # ASC-E01 to ASC-E17: chip, mode, limits, memory written
    (CHIP_A, "", {"count": 1}, "32768"),
    (CHIP_A, "", {"count": 1, "memory": 1}, "2184"),
    (CHIP_A, "", {"count": 1, "memory": 0}, "2184"),
    (CHIP_A, "", {"count": 1, "memory": -5}, "2184"),
    (CHIP_A, "", {"count": 1, "memory": "1500m"}, "2184"),
    (CHIP_A, "", {"count": 1, "memory": 2184}, "2184"),
    (CHIP_A, "", {"count": 1, "memory": 2185}, "4369"),
    (CHIP_A, "", {"count": 1, "memory": 17477}, "32768"),
    (CHIP_A, "", {"count": 2, "memory": 32768}, "32768"),
    (CHIP_A, "hami-core", {"count": 2, "memory": 8738}, "8738"),
    (CHIP_A, "hami-core", {"count": 1, "memory": 100000}, "100k"),
    (CHIP_A, "hami-core", {"count": 1, "memory": 0}, "0"),
    (CHIP_A, "hami-core", {"count": 1}, "32768"),
    (CHIP_A, "hami-core", {"count": 1, "core": 10}, "32768"),
    (CHIP_A, "HAMI-CORE", {"count": 1, "memory": 2000}, "2184"),
    (CHIP_A, "template", {"count": 1, "memory": 2000}, "2184"),
    (CHIP_P, "", {"count": 1, "memory": 12289}, "21527"),
    (CHIP_P, "", {"count": 1, "memory": 24576}, "21527"),
    (CHIP_P, "", {"count": 2, "memory": 22000}, "21527"),
    (CHIP_C, "", {"count": 2}, "65536"),
]


@pytest.mark.parametrize(("chip", "mode", "limits", "memory"), MEMORY)
def test_the_memory_that_will_be_charged_is_written_out(
    chip: Chip, mode: str, limits: dict[str, Any], memory: str
) -> None:
    """ASC-24, ASC-26, ASC-E01 to ASC-E03, ASC-E06, ASC-E08 to ASC-E11, ASC-E14, ASC-E17."""
    container = draft(chip, mode=mode, limits=limits)
    assert mutate(chip, container)
    assert container.limits[chip.resource_memory_name] == memory
    assert container.requests[chip.resource_memory_name] == memory


REFUSED = [  # chip, mode, groups, message
    (CHIP_A, {"limits": {"count": 1, "memory": 32769}}, "huawei.com/Ascend910A-memory 32769 is invalid"),
    (CHIP_A, {"limits": {"count": 2, "memory": 40000}}, "huawei.com/Ascend910A-memory 40000 is invalid"),
    (CHIP_A, {"limits": {"count": 2, "memory": 8738}}, "vNPU not supported for multiple devices"),
    (CHIP_C, {"limits": {"count": 2, "memory": 16000}}, "vNPU not supported for multiple devices"),
    (CHIP_C, {"limits": {"count": 3}}, "Ascend910C device request must be 1 or 2*n, got 3"),
    (CHIP_C, {"limits": {"count": -1}}, "Ascend910C device request must be 1 or 2*n, got -1"),
    (
        CHIP_A,
        {"limits": {"count": 1, "core": 10}},
        "huawei.com/Ascend910A-core is only supported in hami-core (soft split) mode",
    ),
    (
        CHIP_A,
        {"limits": {"count": 1}, "requests": {"core": 10}},
        "huawei.com/Ascend910A-core is only supported in hami-core (soft split) mode",
    ),
]


@pytest.mark.parametrize(("chip", "groups", "message"), REFUSED)
def test_what_no_card_can_give_is_refused(chip: Chip, groups: dict[str, Any], message: str) -> None:
    """ASC-22 to ASC-25, ASC-E04, ASC-E05, ASC-E07, ASC-E12, ASC-E20, ASC-E21."""
    with pytest.raises(AdmissionError) as caught:
        mutate(chip, draft(chip, **groups))
    assert str(caught.value) == message


def test_cores_of_zero_in_limits_hide_those_in_requests() -> None:
    """ASC-23, ASC-E13."""
    assert mutate(CHIP_A, draft(CHIP_A, limits={"count": 1, "core": 0}, requests={"core": 10}))


def test_a_count_in_requests_only_is_not_this_vendors_container() -> None:
    """ASC-20, ASC-E15."""
    container = draft(CHIP_A, requests={"count": 1})
    assert not mutate(CHIP_A, container)
    assert container.pod.operations == []


def test_memory_in_requests_only_is_overwritten() -> None:
    """ASC-24, ASC-E16."""
    container = draft(CHIP_A, limits={"count": 1}, requests={"memory": 2000})
    assert mutate(CHIP_A, container)
    assert container.requests[CHIP_A.resource_memory_name] == "32768"


def test_one_die_of_a_module_becomes_two() -> None:
    """ASC-22, ASC-27, ASC-E18: also where the count stands in requests; the runtime class comes with it."""
    container = draft(CHIP_C, limits={"count": 1}, requests={"count": 1})
    assert mutate(CHIP_C, container)
    assert container.limits[CHIP_C.resource_name] == container.requests[CHIP_C.resource_name] == "2"
    assert container.limits[CHIP_C.resource_memory_name] == "65536"
    assert container.pod.runtime_class == "ascend"


def test_one_die_may_still_be_a_slice() -> None:
    """ASC-25, ASC-E19: the count before rounding decides."""
    container = draft(CHIP_C, limits={"count": 1, "memory": 16000})
    assert mutate(CHIP_C, container)
    assert container.limits == {CHIP_C.resource_name: "2", CHIP_C.resource_memory_name: "16384"}
    assert CHIP_C.resource_name not in container.requests


@pytest.mark.parametrize(("count", "becomes"), [("1", "2"), ("500m", "2"), ("1500m", "1500m"), ("2", "2")])
def test_counts_are_rounded_up_before_they_are_judged(count: str, becomes: str) -> None:
    """ASC-21, ASC-22: half a chip is one, which becomes a module; one and a half are two, and stay."""
    container = draft(CHIP_C, limits={"count": count})
    assert mutate(CHIP_C, container)
    assert container.limits[CHIP_C.resource_name] == becomes
    with pytest.raises(AdmissionError, match=r"got 3$"):
        mutate(CHIP_C, draft(CHIP_C, limits={"count": "2001m"}))


@pytest.mark.parametrize("count", [1, 0, -1, -3])
def test_who_names_the_chip_is_found_whatever_the_count(count: int) -> None:
    """ASC-28: and the memory is written all the same."""
    container = draft(CHIP_A, limits={"count": count})
    assert mutate(CHIP_A, container)
    assert container.limits[CHIP_A.resource_memory_name] == "32768"


def test_odd_counts_pass_where_cards_are_not_paired() -> None:
    """ASC-E21: without ``superPod``."""
    chip = replace(CHIP_C, super_pod=False)
    container = draft(chip, limits={"count": 3})
    assert mutate(chip, container)
    assert container.limits[chip.resource_name] == "3"


def test_a_runtime_class_of_the_users_own_stays() -> None:
    """ASC-27."""
    container = draft(CHIP_C, limits={"count": 2})
    container.pod.raw["spec"]["runtimeClassName"] = "mine"
    mutate(CHIP_C, container)
    assert container.pod.runtime_class == "mine"


def test_chips_that_are_not_asked_for_are_hidden() -> None:
    """ASC-20, ASC-E22: one blank entry a chip, also beside a chip that is asked for."""
    chips = [replace(chip, overwrite_env=True) for chip in (CHIP_A, CHIP_P, CHIP_C)]
    container = draft(CHIP_A, limits={"count": 1})
    assert [mutate(chip, container) for chip in chips] == [True, False, False]
    assert container.env() == [{"name": "ASCEND_VISIBLE_DEVICES", "value": ""}] * 2


def test_amounts_that_will_be_read_otherwise_earn_a_warning() -> None:
    """Architecture, section 7: the warning names container, resource and what is allowed."""
    container = draft(CHIP_A, name="train", limits={"count": 1, "memory": "1500m"})
    mutate(CHIP_A, container)
    (warning,) = container.pod.warnings
    assert warning == (
        "container train: huawei.com/Ascend910A-memory is 1500m, "
        "must be a whole number between 0 and 2147483647"
    )
