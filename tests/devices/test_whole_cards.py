"""Vendors whose cards are given whole and are known from capacity alone."""

from datetime import datetime

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import VendorKey
from tests.devices.machines import SHIPPED
from tests.factories import make_node

NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)


@pytest.fixture(params=["GCU", "Metax-GPU"])
def backend(request: pytest.FixtureRequest) -> DeviceBackend:
    return SHIPPED.backends[VendorKey(request.param)]


@pytest.mark.parametrize("capacity", [None, "0", "1500m"])
def test_a_node_without_capacity_is_not_healthy(backend: DeviceBackend, capacity: str | None) -> None:
    """GCU-E03, GCU-E11, MX-E04: allocatable is not looked at."""
    count = backend.names.count
    node = make_node(capacity={} if capacity is None else {count: capacity}, allocatable={count: "2"})
    with pytest.raises(CodecError, match=f"device not found {count}"):
        backend.node_cards(node)
    health = backend.health(node, now=NOON)
    assert (health.healthy, health.needs_update) == (False, True)
