"""Biren. Rules BR-1 to BR-8.

The type keys ``birentech.com/use-biren`` and ``birentech.com/nouse-biren`` are read by nobody (BR-2, BR-E15).
"""

from dataclasses import dataclass

from scheduler_app.core.backend import DeviceBackend, Keys, ResourceNames, Vendor
from scheduler_app.core.counted import SharesOnlyBackend
from scheduler_app.core.types import VendorKey

KEY = VendorKey("Biren")
KEYS = Keys(
    allocated="hami.io/Biren-devices-allocated",
    to_allocate="hami.io/Biren-devices-to-allocate",
    register="hami.io/node-biren-register",
    handshake="hami.io/node-handshake-biren",
    use_uuid="birentech.com/use-gpuuuid",
    nouse_uuid="birentech.com/nouse-gpuuuid",
)


@dataclass(frozen=True, slots=True)
class Config:
    """The section ``biren`` of the device configuration (DCF-5)."""

    resource_count_name: str = ""


class BirenBackend(SharesOnlyBackend):
    """Cards are shared by number alone; all else is common (BR-7)."""

    vendor_key = KEY
    keys = KEYS

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(count=config.resource_count_name)


def build(config: Config) -> list[DeviceBackend]:
    return [BirenBackend(config)]


VENDOR = Vendor(name="biren", title="Biren", config_key="biren", config=Config, build=build, rank=14)
