"""The section ``kunlun`` of the device configuration (DCF-5)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Config:
    resource_count_name: str = ""
    resource_v_count_name: str = ""
    resource_v_memory_name: str = ""
