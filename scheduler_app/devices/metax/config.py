"""The section ``metax`` of the device configuration (DCF-5)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Config:
    resource_count_name: str = ""
    resource_v_count_name: str = ""
    resource_v_memory_name: str = ""
    resource_v_core_name: str = ""
    sgpu_topology_aware: bool = False
    """Whether pods that do not say so themselves are scored by links (MXS-15)."""
