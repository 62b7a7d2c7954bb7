"""Which of a vendor's resources a quota limits, with the backends of the shipped configuration."""

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import ResourceQuota, VendorKey
from scheduler_app.engine.cache import ClusterState
from tests.devices.machines import SHIPPED

UNIT_MIB = {"MLU": 256, "BI-V100": 256, "BI-V150": 256, "MR-V50": 256, "MR-V100": 256}  # MLU-4, ILU-3
UNIT_MIB |= {"Mthreads": 512, "Metax-SGPU": 1024}  # MT-2, MXS-16


@pytest.fixture(params=SHIPPED.backends.values(), ids=lambda backend: backend.vendor_key)
def backend(request: pytest.FixtureRequest) -> DeviceBackend:
    assert isinstance(request.param, DeviceBackend)
    return request.param


def limited(*resources: str) -> set[str]:
    """Return those of the resources of which a quota object's limit counts."""
    state = ClusterState(SHIPPED.backends)
    state.see_quota(ResourceQuota("ml", "q", {f"limits.{name}": "5" for name in resources}))
    return {name for name, entry in state.quota("ml").entries.items() if entry.limit == 5}


def test_memory_and_cores_are_managed_and_counts_never_are(backend: DeviceBackend) -> None:
    """IF-5, M-25: a name that the vendor does not have is none either."""
    names = backend.names
    assert limited(*backend.resources, "") == {names.mem, names.cores} - {""}
    assert limited(names.count) == set()


def test_nvidias_percentage_and_priority_are_not_managed() -> None:
    """NV-13."""
    names = ("gpu", "gpumem", "gpucores", "gpumem-percentage", "priority")
    found = limited(*(f"nvidia.com/{name}" for name in names))
    assert found == {"nvidia.com/gpumem", "nvidia.com/gpucores"}


@pytest.mark.parametrize("key", [key for key, found in SHIPPED.backends.items() if found.names.mem])
def test_a_memory_limit_counts_in_the_vendors_unit(key: VendorKey) -> None:
    """IF-5, NV-13, M-31: most vendors have none, which a factor of 0 or 1 says."""
    names, unit = SHIPPED.backends[key].names, UNIT_MIB.get(key, 1)
    state = ClusterState(SHIPPED.backends)
    state.see_quota(ResourceQuota("ml", "q", {f"limits.{names.mem}": "5"}))
    quota = state.quota("ml")
    assert quota.allows(names, mem_mib=5 * unit, cores=0)
    assert not quota.allows(names, mem_mib=5 * unit + 1, cores=0)
