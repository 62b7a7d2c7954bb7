"""Metax's shared cards as the case tables write them."""

import json

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import CardRequest, CardUsage, Container, Node, VendorKey
from scheduler_app.devices import metax
from scheduler_app.devices.metax.config import Config
from tests.factories import make_card, make_container, make_context, make_node, make_pod

COUNT, MEM, CORES = "metax-tech.com/sgpu", "metax-tech.com/vmemory", "metax-tech.com/vcore"
APP_CLASS, QOS = "metax-tech.com/sgpu-app-class", "metax-tech.com/sgpu-qos-policy"
TOPOLOGY_AWARE = "metax-tech.com/sgpu-topology-aware"
REGISTER = "metax-tech.com/node-gpu-devices"
KEY = VendorKey("Metax-SGPU")


def sgpu_backend(*, is_topology_aware: bool = False) -> DeviceBackend:
    _, backend = metax.build(Config("", COUNT, MEM, CORES, is_topology_aware))
    return backend


SGPU = sgpu_backend()


def sgpu_card(
    id: str = "a",
    *,
    zone: int = 0,
    qos: str = "",
    marks: tuple[str, ...] = (),
    used: tuple[int, int, int] = (0, 0, 0),
    **values: object,
) -> CardUsage:
    """Return a card of 1000 MiB; ``marks`` are the classes of the pods on it."""
    custom = {"QosPolicy": qos, "Model": "C500", "LinkZone": zone}
    card = make_card(
        id=id,
        vendor=KEY,
        used=used,
        custom=custom,
        **{"mem_mib": 1000, **values},  # type: ignore[arg-type]  # test data
    )
    return CardUsage(
        card.card,
        card.shares_used,
        card.mem_used_mib,
        card.cores_used,
        card.healthy,
        marks=marks,
        custom=card.custom,
    )


def sgpu_node(*zones: int, name: str = "n1", word: str = "A", qos: str = "") -> Node:
    """Return a node of cards ``A0``, ``A1``, … of 64 GiB, each in its zone."""
    listed = [
        {
            "uuid": f"{word}{n}",
            "totalDevCount": 16,
            "totalCompute": 100,
            "totalVRam": 65536,
            "healthy": True,
            "linkZone": zone,
            "qosPolicy": qos,
        }
        for n, zone in enumerate(zones)
    ]
    return make_node(name, annotations={REGISTER: json.dumps(listed)})


def wants(cards: int, *, gib: int | None = None, cores: int | None = None) -> Container:
    limits: dict[str, object] = {COUNT: cards}
    if gib is not None:
        limits[MEM] = gib
    if cores is not None:
        limits[CORES] = cores
    return make_container(limits=limits)


def ask(cards: int = 1, *, mem: int = 0, percent: int = 0, cores: int = 50) -> CardRequest:
    return CardRequest(cards, KEY, mem, percent, cores)


def fit(
    *cards: CardUsage,
    request: CardRequest | None = None,
    annotations: dict[str, str] | None = None,
    policy: str = "spread",
) -> tuple[list[str], str]:
    """Return the ids of the cards taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}), policy=policy)
    result = SGPU.fit(context, cards, request or ask())
    return [str(held.card) for held in result.allocations], result.reason


def used_by(*marks: str, id: str = "a", qos: str = "") -> CardUsage:
    """Return a card in use by pods of these classes."""
    return sgpu_card(id, marks=tuple(sorted(marks)), used=(max(len(marks), 1), 0, 0), qos=qos)
