"""Which nodes the cluster has: vendors from data files, nodes and their register text made from them.

A vendor is one file ``fleets/<vendor>.json``; nothing else names it. Shape of the file: see ``Vendor``.
"""

import json
import re
import uuid
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from simcluster.objects import Json

DEMO_FLEET = "nvidia:20x8"

_GROUP = re.compile(r"([a-z0-9-]+)(?:/([a-z0-9-]+))?:(\d+)x(\d+)")
_UUIDS = uuid.UUID("6f1d3c62-3d0e-4b6e-9a53-0d6a1c1f7e11")
DEMO_FLEET = "nvidia:20x8"


class FleetError(ValueError):
    """A fleet text or a vendor's file that cannot be used."""


@dataclass(frozen=True, slots=True)
class Group:
    """``nodes`` equal nodes of ``cards`` cards; model empty means the vendor's models in turn."""

    vendor: str
    model: str
    nodes: int
    cards: int


@dataclass(frozen=True, slots=True)
class Model:
    """One kind of card. ``cores`` are the vendor's units, usually percent; id has the place ``{uuid}``."""

    name: str
    type: str
    mem_mib: int
    cores: int
    id: str
    cpu: str
    memory: str
    numa_nodes: int
    labels: dict[str, str]
    capacity: dict[str, int]


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor's data.

    ``capacity``: node resource → amount for each card. ``register``: the annotation key, its form (json, csv
    or none) and the members of an entry, texts in braces being filled in. ``allocation``: the annotation keys
    of the allocation protocol; a missing to_allocate means that nothing on the node consumes it.
    ``requests``: what pods ask for (see ``workload``).
    """

    name: str
    count_resource: str
    managed: tuple[str, ...]
    capacity: dict[str, int]
    register: Json
    handshake: Json
    allocation: Json
    models: tuple[Model, ...]
    requests: tuple[Json, ...]

    def model(self, name: str) -> Model:
        """Return the model called name, whatever its case; FleetError when there is none."""
        for model in self.models:
            if model.name.lower() == name.lower():
                return model
        known = ", ".join(model.name for model in self.models)
        raise FleetError(f"fleet: {self.name} has no model {name!r}; known are {known}")


def parse(text: str) -> list[Group]:
    """Read ``nvidia:20x8,mthreads:4x8`` or ``nvidia/t4:3x4``; letter case does not matter."""
    groups = []
    for part in filter(None, (part.strip() for part in text.lower().split(","))):
        match = _GROUP.fullmatch(part)
        if not match:
            raise FleetError(f"fleet: expected <vendor>[/<model>]:<nodes>x<cards>, got {part!r}")
        groups.append(Group(match[1], match[2] or "", int(match[3]), int(match[4])))
    return groups


@cache
def vendor(name: str) -> Vendor:
    """Return the vendor of the file ``fleets/<name>.json``; FleetError when there is none."""
    key = name.lower()
    if key not in vendor_names():
        raise FleetError(f"fleet: unknown vendor {name!r}; known are {', '.join(vendor_names())}")
    data = json.loads((resources.files("simcluster") / "fleets" / f"{key}.json").read_text("utf-8"))
    return Vendor(
        name=data["vendor"],
        count_resource=data["count_resource"],
        managed=tuple(data["managed"]),
        capacity=data["capacity"],
        register=data["register"],
        handshake=data.get("handshake") or {},
        allocation=data["allocation"],
        models=tuple(_model(row) for row in data["models"]),
        requests=tuple(data["requests"]),
    )


@cache
def vendor_names() -> tuple[str, ...]:
    """Return the names of all data files, sorted."""
    files = (resources.files("simcluster") / "fleets").iterdir()
    return tuple(sorted(file.name.removesuffix(".json") for file in files if file.name.endswith(".json")))


def card_id(model: Model, node: str, index: int) -> str:
    """Return an id that is the same in every run."""
    return model.id.format(uuid=uuid.uuid5(_UUIDS, f"{node}/{index}"), node=node, index=index)


def register_text(vendor_: Vendor, model: Model, node: str, healthy: list[bool]) -> str:
    """Return the register annotation of a node with one card for each entry of healthy; "" for form none."""
    form = vendor_.register["form"]
    if form == "none":
        return ""
    places = range(len(healthy))
    entries = [_entry(vendor_, model, node, index=index, healthy=healthy) for index in places]
    if form == "json":
        return json.dumps(entries, separators=(",", ":"))
    return "".join(",".join(_csv(value) for value in entry.values()) + ":" for entry in entries)


def _entry(vendor_: Vendor, model: Model, node: str, *, index: int, healthy: list[bool]) -> Json:
    """Zero values are left out of the JSON form, as the node plugins do (P-4, NVP-1)."""
    values: Json = {
        "{id}": card_id(model, node, index),
        "{index}": index,
        "{mem_mib}": model.mem_mib,
        "{cores}": model.cores,
        "{type}": model.type,
        "{numa}": index * model.numa_nodes // len(healthy),
        "{health}": healthy[index],
    }
    entry = {name: _filled(value, values) for name, value in vendor_.register["entry"].items()}
    if vendor_.register["form"] == "json":
        return {name: value for name, value in entry.items() if value not in (0, "", False)}
    return entry


def _filled(value: Any, values: Json) -> Any:
    return values.get(value, value) if isinstance(value, str) else value


def _csv(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _model(row: Json) -> Model:
    return Model(
        name=row["name"],
        type=row["type"],
        mem_mib=row["mem_mib"],
        cores=row.get("cores", 100),
        id=row["id"],
        cpu=row.get("cpu", "96"),
        memory=row.get("memory", "1Ti"),
        numa_nodes=row.get("numa_nodes", 2),
        labels=row.get("labels") or {},
        capacity=row.get("capacity") or {},
    )
