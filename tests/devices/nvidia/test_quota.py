"""The namespace's quota inside fit (NV-46)."""

import pytest

from scheduler_app.core.types import Allocation, CardId, Container, Containers
from scheduler_app.devices.nvidia.backend import NvidiaBackend
from tests.devices.nvidia.cards import ask, card, config, fit, limit
from tests.factories import make_container, make_pod

NOT_ALLOWED = "1/1 ResourceQuotaNotFit"


@pytest.mark.parametrize(
    ("number", "mem", "percent", "reason"),
    [
        (1, 2048, 101, ""),
        (1, 2049, 101, NOT_ALLOWED),
        (1, 0, 30, NOT_ALLOWED),
        (1, 20000, 101, NOT_ALLOWED),
    ],
)
def test_quota_is_looked_at_before_memory(number: int, mem: int, percent: int, reason: str) -> None:
    """NV-E74, NV-E76: a percentage is resolved to MiB first."""
    found = fit([card("a", mem_mib=10000)], ask(number, mem, percent), quota=limit(mem=2048))
    assert found[1] == reason


@pytest.mark.parametrize(
    ("mem", "expected"),
    [
        (1024, (["b", "a"], "")),
        (1025, ([], "1/2 AllocatedCardsInsufficientRequest, 1/2 ResourceQuotaNotFit")),
    ],
)
def test_all_cards_of_a_container_count(mem: int, expected: tuple[list[str], str]) -> None:
    """NV-E74."""
    both = [card("a", mem_mib=10000), card("b", mem_mib=10000)]
    assert fit(both, ask(2, mem), quota=limit(mem=2048)) == expected


def test_a_limit_of_0_blocks_and_equality_fits() -> None:
    """NV-E77, M-31."""
    assert fit([card("a")], ask(1, 1), quota=limit(mem=0))[1] == NOT_ALLOWED
    assert fit([card("a")], ask(1, 1, 101, 50), quota=limit(cores=50))[1] == ""
    assert fit([card("a")], ask(1, 1, 101, 51), quota=limit(cores=50))[1] == NOT_ALLOWED


def test_the_limit_is_in_the_units_of_the_resource() -> None:
    """NV-4, NV-E78."""
    backend = NvidiaBackend(config(memory_factor=4))
    for mem, reason in ((4000, ""), (4001, NOT_ALLOWED)):
        found = fit([card("a", mem_mib=10000)], ask(1, mem), quota=limit(mem=1000), backend=backend)
        assert found[1] == reason


def held(card_id: str, mem: int) -> tuple[Allocation, ...]:
    return (Allocation(CardId(card_id), "NVIDIA", mem, 0),)


A1500 = held("a", 1500)


@pytest.mark.parametrize(
    ("inits", "apps", "before", "reason"),
    [
        (0, 2, (A1500,), NOT_ALLOWED),  # beside an app container: the sum
        (2, 1, (A1500,), ""),  # one init container after the other: the peak
        (2, 1, (held("b", 1500),), NOT_ALLOWED),  # on another card there is nothing to share
        (1, 2, (A1500, ()), ""),  # an app container after an init container: the larger of the two
        (1, 2, (A1500, A1500), NOT_ALLOWED),  # the reference takes this one for an init container
    ],
)
def test_containers_count_at_their_true_positions(
    inits: int, apps: int, before: Containers, reason: str
) -> None:
    """NV-E75 with Q-5 fixed: init containers peak, app containers add up."""
    pod = make_pod(
        init_containers=tuple(make_container(f"i{n}") for n in range(inits)),
        containers=tuple(make_container(f"c{n}") for n in range(apps)),
    )
    found = fit([card("a", mem_mib=10000)], ask(1, 1500), pod=pod, given=before, quota=limit(mem=2048))
    assert found[1] == reason


def test_a_sidecar_counts_with_the_app_containers() -> None:
    """Q-23."""
    sidecar = Container("s", restarts_always=True)
    pod = make_pod(init_containers=(sidecar,), containers=(make_container(),))
    found = fit([card("a", mem_mib=10000)], ask(1, 1500), pod=pod, given=(A1500,), quota=limit(mem=2048))
    assert found[1] == NOT_ALLOWED
