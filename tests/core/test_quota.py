"""Quota arithmetic (M-26, M-31, Q-24)."""

import pytest

from scheduler_app.core import quota
from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.quota import NO_QUOTA, NamespaceQuota, QuotaEntry
from scheduler_app.core.types import ResourceQuota

MEM, CORES = "x.io/mem", "x.io/cores"
NAMES = ResourceNames("x.io/gpu", MEM, CORES)
MANAGED = frozenset((MEM, CORES))


def namespace(*, factor_names: ResourceNames = NAMES, **entries: tuple[int, int | None]) -> NamespaceQuota:
    """Return a namespace from ``mem=(used, limit)`` and ``cores=(used, limit)``."""
    names = {"mem": factor_names.mem, "cores": factor_names.cores}
    return NamespaceQuota({names[key]: QuotaEntry(*values, source="q") for key, values in entries.items()})


@pytest.mark.parametrize(
    ("used", "limit", "more", "allowed"),
    [
        (0, 100, 100, True),
        (0, 100, 101, False),
        (60, 100, 40, True),
        (60, 100, 41, False),
        (0, 0, 0, True),
        (0, 0, 1, False),
        (5, 0, 0, False),
        (500, None, 500, True),
    ],
)
def test_equality_fits_and_a_limit_of_0_blocks(
    used: int, limit: int | None, more: int, allowed: bool
) -> None:
    """M-31, M-32."""
    assert namespace(mem=(used, limit)).allows(NAMES, mem_mib=more, cores=0) is allowed
    assert namespace(cores=(used, limit)).allows(NAMES, mem_mib=0, cores=more) is allowed


def test_without_an_entry_everything_is_allowed() -> None:
    """M-31: also for a vendor that has no such resource."""
    assert NO_QUOTA.allows(NAMES, mem_mib=10**9, cores=10**9)
    assert namespace(mem=(0, 0)).allows(ResourceNames("x.io/gpu"), mem_mib=1, cores=1)


@pytest.mark.parametrize(("factor", "allowed"), [(0, False), (1, False), (2, True)])
def test_the_memory_limit_is_scaled(factor: int, allowed: bool) -> None:
    """M-31: cores are not."""
    names = ResourceNames("x.io/gpu", MEM, CORES, factor)
    assert namespace(mem=(0, 100)).allows(names, mem_mib=200, cores=0) is allowed
    assert not namespace(cores=(0, 100)).allows(names, mem_mib=0, cores=101)


def test_a_namespace_says_whether_it_binds_a_vendor() -> None:
    """M-31: usage without a limit binds nobody."""
    assert namespace(cores=(0, 0)).binds(NAMES)
    assert not namespace(mem=(5, None)).binds(NAMES)
    assert not namespace(mem=(5, 5)).binds(ResourceNames("y.io/gpu", "y.io/mem"))
    assert not NO_QUOTA.binds(NAMES)


@pytest.mark.parametrize(
    ("hard", "limits"),
    [
        ({f"limits.{MEM}": "10Gi"}, {MEM: 10737418240}),
        ({f"limits.{MEM}": "1e3", f"limits.{CORES}": "-5"}, {MEM: 1000, CORES: -5}),
        ({f"requests.{MEM}": "1"}, {}),
        ({MEM: "1"}, {}),
        ({"limits.cpu": "1", "limits.x.io/gpu": "1"}, {}),
        ({f"limits.{MEM}": "1.0"}, {}),
        ({f"limits.{MEM}": "1000m"}, {}),
        ({f"limits.{MEM}": "100Ti"}, {}),
        ({f"limits.{MEM}": "1234567890123456789"}, {}),
    ],
)
def test_only_managed_limits_with_an_exact_reading_count(
    hard: dict[str, str], limits: dict[str, int]
) -> None:
    """M-26, M-25."""
    assert quota.limits_of(ResourceQuota("ns", "q", hard), MANAGED) == limits


def test_the_smallest_of_several_limits_holds() -> None:
    """Q-24: by name among equals, so that the answer does not change."""
    assert quota.smallest([("b", 5), ("a", 7), ("c", 5)]) == ("b", 5)
    assert quota.smallest([]) is None
