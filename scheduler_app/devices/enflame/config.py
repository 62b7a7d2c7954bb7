"""The section ``enflame`` of the device configuration (DCF-5)."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Config:
    """``resource_name_vgcu`` is the older name of slices; nothing reads the percentage (ENF-2)."""

    resource_name_gcu: str = field(default="", metadata={"key": "resourceNameGCU"})
    resource_name_drs_gcu: str = field(default="", metadata={"key": "resourceNameDRSGCU"})
    resource_name_gcu_memory: str = field(default="", metadata={"key": "resourceNameGCUMemory"})
    resource_name_gcu_core: str = field(default="", metadata={"key": "resourceNameGCUCore"})
    resource_name_vgcu: str = field(default="", metadata={"key": "resourceNameVGCU"})
    resource_name_vgcu_percentage: str = field(default="", metadata={"key": "resourceNameVGCUPercentage"})
