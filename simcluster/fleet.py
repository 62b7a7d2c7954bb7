"""Which nodes the cluster has: vendors from data files, nodes and their register text made from them.

A vendor is one file ``fleets/<word>.json``; nothing else names it. Under ``keys`` it has what differs between
the vendor's keys (``Ascend910A``, ``Ascend910B2``), beside it what they share; ``{key}`` in any text of the
file stands for the key. Further shape: see ``Vendor``, ``Model`` and, for ``requests``, ``workload``.
"""

import json
import re
import uuid
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from simcluster.objects import Json

DEMO_FLEET = "nvidia:9x8,nvidia/a100-mig:2x4,ascend910b3:2x8,mlu:2x8,dcu:2x8,mthreads:2x8,metax-sgpu:1x8"

_GROUP = re.compile(r"([a-z0-9-]+)(?:/([a-z0-9-]+))?:(\d+)x(\d+)")
_UUIDS = uuid.UUID("6f1d3c62-3d0e-4b6e-9a53-0d6a1c1f7e11")
_LINKED = 4  # cards with links among them, unless the model says otherwise
_FOLDER = resources.files("simcluster") / "fleets"


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
    """One kind of card.

    ``mem_mib`` and ``cores`` are what the scheduler counts, in its units; id has the place ``{uuid}``.
    ``linked``: cards with links among them. ``entry``: members of the register entry that are the model's
    own. ``in_turn``: whether a fleet gets it without naming it.
    """

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
    linked: int
    entry: Json
    in_turn: bool


@dataclass(frozen=True, slots=True)
class Vendor:
    """The data of one key of a vendor; ``name`` is the key.

    ``managed``: resources that kube-scheduler does not count. ``capacity``: node resource → amount for each
    card. ``shares``: pods that one card can take. ``annotations``: what else stands on each node.
    ``register``: the annotation key, its form (json, csv or none), the members of an entry, and with
    ``around`` the object that holds the list of entries; see ``_filled`` for places in braces.
    ``handshake``: its annotation key and whether the plugin replies. ``allocation``: see ``allocation.py``.
    """

    name: str
    count_resource: str
    managed: tuple[str, ...]
    capacity: dict[str, int]
    shares: int
    annotations: dict[str, str]
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


def vendor(name: str) -> Vendor:
    """Return the vendor of a key, or the first key of a file ``fleets/<name>.json``, whatever the case.

    FleetError when there is neither.
    """
    word = name.lower()
    for key in vendor_names():
        if key.lower() == word:
            return _vendor(key)
    for file, keys in _keys().items():
        if file == word:
            return _vendor(keys[0])
    known = ", ".join((*vendor_names(), *_keys()))
    raise FleetError(f"fleet: unknown vendor {name!r}; known are {known}")


@cache
def vendor_names() -> tuple[str, ...]:
    """Return the keys of all data files, sorted."""
    return tuple(sorted(key for keys in _keys().values() for key in keys))


@cache
def _keys() -> dict[str, tuple[str, ...]]:
    """Return the keys by file, in the files' order."""
    words = sorted(file.name.removesuffix(".json") for file in _FOLDER.iterdir() if ".json" in file.name)
    return {word: tuple(_file(word)["keys"]) for word in words}


def _file(word: str) -> Json:
    found: Json = json.loads((_FOLDER / f"{word}.json").read_text("utf-8"))
    return found


@cache
def _vendor(key: str) -> Vendor:
    """Return the one object of a key, so that vendors can be compared by identity."""
    word = next(word for word, keys in _keys().items() if key in keys)
    shared = _file(word)
    own = shared.pop("keys")[key]
    data = json.loads(json.dumps({**shared, **own}).replace("{key}", key))
    return Vendor(
        name=key,
        count_resource=data["count_resource"],
        managed=tuple(data["managed"]),
        capacity=data["capacity"],
        shares=data.get("shares") or data["capacity"][data["count_resource"]],
        annotations=data.get("annotations") or {},
        register=data["register"],
        handshake=data.get("handshake") or {},
        allocation=data["allocation"],
        models=tuple(_model(row) for row in data["models"]),
        requests=tuple(data["requests"]),
    )


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
    if form == "csv":
        return "".join(",".join(_csv(value) for value in entry.values()) + ":" for entry in entries)
    around = vendor_.register.get("around")
    whole = _filled(around, {"entries": entries}) if around else entries
    return json.dumps(whole, separators=(",", ":"))


def _entry(vendor_: Vendor, model: Model, node: str, *, index: int, healthy: list[bool]) -> Json:
    """Zero values are left out of the JSON form, as the node plugins do (P-4, NVP-1)."""
    values: Json = {
        "id": card_id(model, node, index),
        "index": index,
        "mem_mib": model.mem_mib,
        "cores": model.cores,
        "type": model.type,
        "numa": index * model.numa_nodes // len(healthy),
        "group": index // model.linked + 1,
        "health": healthy[index],
    }
    entry: Json = _filled(vendor_.register["entry"] | model.entry, values)
    if vendor_.register["form"] == "json":
        return {name: value for name, value in entry.items() if value not in (0, "", False)}
    return entry


def _filled(value: Any, values: Json) -> Any:
    """Fill in places: a text that is just ``{index}`` becomes the value itself, ``{index:d}`` its text."""
    if isinstance(value, dict):
        return {name: _filled(part, values) for name, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, values) for part in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    return values[value[1:-1]] if value[1:-1] in values else value.format_map(values)


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
        linked=row.get("linked", _LINKED),
        entry=row.get("entry") or {},
        in_turn=row.get("in_turn", True),
    )
