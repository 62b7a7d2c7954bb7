"""Memory around the 32 bits that the wire has (W16): refused before it is scaled, never wrapped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core import amounts
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.quantity import INT32_MAX
from scheduler_app.devices import vendors
from tests.devices.filled import build_filled
from tests.factories import make_container

MEASURED = [backend for vendor in vendors() for backend in build_filled(vendor) if backend.names.mem]
ROUNDED = {"Enflame", "XPU"}  # any amount becomes slices of a card, of which there are few (ENF-5, KLV-4)
SCALED = [backend for backend in MEASURED if backend.vendor_key not in ROUNDED]


@pytest.mark.parametrize("backend", SCALED, ids=lambda backend: backend.vendor_key)
@given(st.integers(-3, 3))
def test_w16_the_largest_amount_is_taken_and_the_next_one_refused(
    backend: DeviceBackend, beyond: int
) -> None:
    """Of iluvatar.ai/MR-V100.vMem that is 8388608, times 256 MiB."""
    factor = max(backend.names.mem_factor, 1)
    units = INT32_MAX // factor + beyond
    container = make_container(limits={backend.names.count: 1, backend.names.mem: units})
    asked = backend.request(container)
    if beyond > 0:
        assert asked is None
        assert f"{backend.names.mem} is {units}" in amounts.beyond_32_bits(container, backend.names)
    else:
        assert asked is not None
        assert asked.mem_mib == units * factor
        assert amounts.beyond_32_bits(container, backend.names) == ""


@pytest.mark.parametrize("backend", MEASURED, ids=lambda backend: backend.vendor_key)
@given(st.integers(0, 2**63) | st.sampled_from([3_000_000_000, 2**31, 2**32 + 1, 2**64]))
def test_w16_no_amount_leaves_32_bits(backend: DeviceBackend, units: int) -> None:
    container = make_container(limits={backend.names.count: 1, backend.names.mem: units})
    asked = backend.request(container)
    assert asked is None or 0 <= asked.mem_mib <= INT32_MAX
