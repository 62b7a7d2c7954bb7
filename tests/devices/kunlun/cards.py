"""Kunlun's backends and nodes as the case tables write them."""

import json

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import Container, Node
from scheduler_app.devices import kunlun
from scheduler_app.devices.kunlun.config import Config
from tests.factories import make_container, make_node

COUNT, VCOUNT, VMEM = "kunlunxin.com/xpu", "kunlunxin.com/vxpu", "kunlunxin.com/vxpu-memory"
REGISTER = "hami.io/node-register-xpu"
XPU: DeviceBackend
VXPU: DeviceBackend
XPU, VXPU = kunlun.build(Config(COUNT, VCOUNT, VMEM))


def whole_node(cards: int = 8, name: str = "n1") -> Node:
    return make_node(name, capacity={COUNT: str(cards)})


def sliced_node(cards: int = 8, model: str = "XPU-P800", word: str = "x") -> Node:
    listed = [
        {
            "id": f"{word}{n}",
            "index": n,
            "count": 4,
            "devmem": 98304,
            "devcore": 100,
            "type": model,
            "numa": n // 4,
            "health": True,
        }
        for n in range(cards)
    ]
    return make_node("n1", annotations={REGISTER: json.dumps(listed)})


def wants(cards: int, mem_mib: int | None = None) -> Container:
    """Return a container that asks for whole cards, or for slices of ``mem_mib``."""
    if mem_mib is None:
        return make_container(limits={COUNT: cards})
    return make_container(limits={VCOUNT: cards, VMEM: mem_mib})


NOTHING = make_container("none")
