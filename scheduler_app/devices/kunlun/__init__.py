"""Kunlun: whole cards (``xpu.py``, KL-1 to KL-12) and slices of them (``vxpu.py``, KLV-1 to KLV-10).

``topology.py`` is the choice that both make: which cards of a node go well together; ``selecting.py`` their
common fit.
"""

from scheduler_app.core.backend import DeviceBackend, Flag, Vendor
from scheduler_app.devices.kunlun.config import Config
from scheduler_app.devices.kunlun.vxpu import VxpuBackend
from scheduler_app.devices.kunlun.xpu import XpuBackend


def build(config: Config) -> list[DeviceBackend]:
    return [XpuBackend(config), VxpuBackend(config)]


VENDOR = Vendor(
    name="kunlun",
    title="Kunlun",
    config_key="kunlun",
    config=Config,
    build=build,
    rank=9,
    flags=(
        Flag("kunlun-name", "kunlunxin.com/xpu"),
        Flag("kunlun-vcount", "kunlunxin.com/vxpu"),
        Flag("kunlun-vmemory", "kunlunxin.com/vxpu-memory"),
    ),
)
