"""Huawei Ascend: one backend a chip, vNPU templates or soft split, HCCS topology. Rules ASC-1 to ASC-62."""

from scheduler_app.devices.ascend.backend import VENDOR

__all__ = ["VENDOR"]
