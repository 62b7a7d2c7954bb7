"""Metax: whole GPUs (``gpu.py``, rules MX-1 to MX-11) and shared ones (``sgpu.py``, rules MXS-1 to MXS-19).

``inventory.py`` reads what a node says of its shared cards, ``links.py`` knows which of them are linked.
"""

from scheduler_app.core.backend import DeviceBackend, Flag, Vendor
from scheduler_app.devices.metax.config import Config
from scheduler_app.devices.metax.gpu import GpuBackend
from scheduler_app.devices.metax.sgpu import SgpuBackend


def build(config: Config) -> list[DeviceBackend]:
    return [GpuBackend(config), SgpuBackend(config)]


VENDOR = Vendor(
    name="metax",
    title="Metax",
    config_key="metax",
    config=Config,
    build=build,
    rank=7,
    flags=(
        Flag("metax-name", "metax-tech.com/gpu"),
        Flag("metax-vcount", "metax-tech.com/sgpu"),
        Flag("metax-vcore", "metax-tech.com/vcore"),
        Flag("metax-vmemory", "metax-tech.com/vmemory"),
        Flag("sgpu-topology-aware", default=False),
    ),
)
