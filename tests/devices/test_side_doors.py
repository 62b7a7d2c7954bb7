"""What one vendor alone may do: the doors that the contract opens for NVIDIA (IF-14)."""

import json
from datetime import datetime

import pytest

from scheduler_app.core.backend import DeviceBackend, SliceEffects
from scheduler_app.core.types import Allocation, CardId
from tests.devices.machines import SHIPPED
from tests.factories import make_card, make_node, make_pod

NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)
RESERVED = json.dumps(
    [
        {
            "containerIndex": 0,
            "deviceIndex": 0,
            "gpuUUID": "m",
            "profile": "1g",
            "placement": {"start": 0, "size": 1},
        }
    ]
)


@pytest.fixture(params=SHIPPED.backends.values(), ids=lambda backend: backend.vendor_key)
def backend(request: pytest.FixtureRequest) -> DeviceBackend:
    assert isinstance(request.param, DeviceBackend)
    return request.param


def is_nvidia(backend: DeviceBackend) -> bool:
    return backend.vendor_key == "NVIDIA"


def test_fewer_cards_than_asked_may_do_only_where_they_are_cut(backend: DeviceBackend) -> None:
    """IF-14, F-29: cards of any other vendor are counted, whatever mode they say."""
    cut = [make_card(id="m", vendor=backend.vendor_key, mode="mig")]
    assert backend.waives_card_count(make_pod(), cut) == is_nvidia(backend)
    whole = [make_card(id="m", vendor=backend.vendor_key, mode="hami-core")]
    assert not backend.waives_card_count(make_pod(), whole)


def test_only_reservations_of_parts_change_a_card_beside_its_use(backend: DeviceBackend) -> None:
    """IF-14, M-17 to M-22."""
    pod = make_pod(annotations={"hami.io/vgpu-mig-allocations": RESERVED})
    held = ((Allocation(CardId("m"), backend.vendor_key, 1024, 10),),)
    effects = backend.slice_effects(
        pod, held, [make_card(id="m", vendor=backend.vendor_key, mode="mig").card]
    )
    assert (effects != SliceEffects()) == is_nvidia(backend)


def test_only_one_vendor_remembers_a_node_until_it_is_deleted(backend: DeviceBackend) -> None:
    """IF-14, NV-10, NV-36: of the others nothing has to be forgotten."""
    node = make_node(allocatable={backend.names.count: "8"}, capacity={backend.names.count: "8"})
    found = backend.health(node, now=NOON, memory=None)
    assert (found.memory is not None) == is_nvidia(backend)
