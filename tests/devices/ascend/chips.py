"""Three chips as the chart ships them (ASC-5): "A" and "P" with hard split, "C" of two dies a module."""

from typing import Any

from scheduler_app.devices.ascend.backend import AscendBackend
from scheduler_app.devices.ascend.config import Chip, Template


def _chip(word: str, *, allocatable: int, capacity: int, sizes: dict[str, int], **chip: Any) -> Chip:
    values: dict[str, Any] = {
        "common_word": word,
        "chip_name": word.removeprefix("Ascend"),
        "resource_name": f"huawei.com/{word}",
        "resource_memory_name": f"huawei.com/{word}-memory",
        "resource_core_name": f"huawei.com/{word}-core",
        "memory_allocatable": allocatable,
        "memory_capacity": capacity,
        "memory_factor": 1,
        "templates": tuple(Template(name, memory) for name, memory in sizes.items()),
        **chip,
    }
    return Chip(**values)


CHIP_A = _chip(
    "Ascend910A",
    allocatable=32768,
    capacity=32768,
    sizes={"vir16": 17476, "vir02": 2184, "vir04": 4369, "vir08": 8738},
)
CHIP_P = _chip(
    "Ascend310P", allocatable=21527, capacity=24576, sizes={"vir01": 3072, "vir02": 6144, "vir04": 12288}
)
CHIP_B3 = _chip(
    "Ascend910B3", allocatable=65536, capacity=65536, sizes={"vir05_1c_16g": 16384, "vir10_3c_32g": 32768}
)
CHIP_B4 = _chip(
    "Ascend910B4", allocatable=32768, capacity=32768, sizes={"vir05_1c_8g": 8192, "vir10_3c_16g": 16384}
)
CHIP_C = _chip(
    "Ascend910C",
    allocatable=65536,
    capacity=65536,
    sizes={"vir05_1c_16g": 16384, "vir10_3c_32g": 32768},
    memory_factor=0,
    super_pod=True,
    runtime_class_name="ascend",
)


def make_ascend(chip: Chip = CHIP_A, *, is_soft_by_default: bool = False) -> AscendBackend:
    return AscendBackend(chip, is_soft_by_default=is_soft_by_default)
