"""Enflame: whole cards (``gcu.py``, GCU-1 to GCU-5) and slices of them (``drs.py``, ENF-1 to ENF-11).

``inventory.py`` reads what a node says of cards that can be sliced, ``profiles.py`` chooses the kind of
slice.
"""

from scheduler_app.core.backend import DeviceBackend, Flag, Vendor
from scheduler_app.devices.enflame.config import Config
from scheduler_app.devices.enflame.drs import DrsBackend
from scheduler_app.devices.enflame.gcu import GcuBackend


def build(config: Config) -> list[DeviceBackend]:
    return [GcuBackend(config), DrsBackend(config)]


VENDOR = Vendor(
    name="enflame",
    title="Enflame",
    config_key="enflame",
    config=Config,
    build=build,
    rank=4,
    flags=(
        Flag("enflame-gcu-resource-name", "enflame.com/gcu"),
        Flag("enflame-drs-gcu-resource-name", "enflame.com/drs-gcu"),
        Flag("enflame-vgcu-resource-name", "enflame.com/drs-gcu"),
        Flag("enflame-gcu-memory-resource-name", "enflame.com/gcu-memory"),
        Flag("enflame-gcu-core-resource-name", "enflame.com/gcu-core"),
        Flag("enflame-vgcu-legacy-resource-name", "enflame.com/vgcu"),
        Flag("enflame-vgcu-percentage-resource-name", "enflame.com/vgcu-percentage"),
    ),
)
