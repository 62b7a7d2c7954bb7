"""The JSON under ``huawei.com/<word>`` from which the node plugin cuts the cards. Rules ASC-60 to ASC-62."""

from collections.abc import Iterable

from scheduler_app.core import codec
from scheduler_app.core.types import Allocation, Containers
from scheduler_app.devices.ascend.config import Chip


def encode(containers: Containers, *, chip: Chip, is_soft: bool) -> str:
    """Return ``[{"UUID":"…","temp":"vir02","memory":2184,"core":10}]``, all containers in one list.

    Empty and zero members are left out, and so is ``temp`` for whole cards and in soft split. No cards are
    ``null``.
    """
    members = list(_members(containers, chip=chip, is_soft=is_soft)) or None
    return codec.compact_json(members)


def _members(containers: Containers, *, chip: Chip, is_soft: bool) -> Iterable[dict[str, str | int]]:
    for container in containers:
        for allocation in container:
            found: dict[str, str | int] = {
                "UUID": allocation.card,
                "temp": _template(allocation, chip=chip, is_soft=is_soft),
                "memory": allocation.mem_mib,
                "core": allocation.cores,
            }
            yield {name: value for name, value in found.items() if value}


def _template(allocation: Allocation, *, chip: Chip, is_soft: bool) -> str:
    return "" if is_soft else chip.template_for(allocation.mem_mib).name
