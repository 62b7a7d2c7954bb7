"""Enflame's slices as the case tables write them: profiles 1g.6gb, 3g.20gb and 6g.40gb unless stated."""

import json
from collections.abc import Mapping, Sequence

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import CardUsage, Node, VendorKey
from scheduler_app.devices import enflame
from scheduler_app.devices.enflame.config import Config
from tests.factories import make_card, make_node

KEY = VendorKey("Enflame")
COUNT, MEM, CORES = "enflame.com/drs-gcu", "enflame.com/gcu-memory", "enflame.com/gcu-core"
REGISTER = "enflame.com/gcu-drs-capacity"
PROFILES = {"1g.6gb": "0", "3g.20gb": "1", "6g.40gb": "2"}
DRS: DeviceBackend
_, DRS = enflame.build(Config())


def drs_node(
    devices: Sequence[Mapping[str, object]] = ({"index": "0", "minor": "0", "capacity": 6},),
    profiles: Mapping[str, object] = PROFILES,
) -> Node:
    text = json.dumps({"devices": devices, "profiles": profiles})
    return make_node("n1", annotations={REGISTER: text})


def drs_card(
    id: str = "a",
    profiles: Mapping[str, str] = PROFILES,
    *,
    max_slice: int = 6,
    used: tuple[int, int, int] = (0, 0, 0),
    healthy: bool = True,
    shares: int = 6,
) -> CardUsage:
    custom = {"minor": "0", "index": "0", "profiles": profiles, "maxSlice": max_slice}
    return make_card(
        id=id, vendor=KEY, shares=shares, mem_mib=40960, used=used, custom=custom, healthy=healthy
    )
