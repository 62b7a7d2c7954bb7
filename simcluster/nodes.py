"""Node objects: made from a vendor's data, kept with the health of each card."""

import threading
from dataclasses import dataclass, field

from simcluster import fleet
from simcluster.fleet import Model, Vendor
from simcluster.objects import Json, time_text

_MAX_PODS = "250"
_NODE_INFO = {
    "kubeletVersion": "v1.32.0",
    "osImage": "Debian GNU/Linux 12 (bookworm)",
    "kernelVersion": "6.1.0",
    "containerRuntimeVersion": "containerd://1.7.0",
    "operatingSystem": "linux",
    "architecture": "amd64",
    "kubeProxyVersion": "",
}


@dataclass(slots=True)
class NodeRecord:
    """One node: its vendor and model, the health of each card, whether its device plugin answers."""

    name: str
    vendor: Vendor
    model: Model
    health: list[bool]
    number: int
    plugin_up: bool = True

    @property
    def address(self) -> str:
        return f"10.{self.number // 65025 % 256}.{self.number // 255 % 255}.{self.number % 255 + 1}"

    def resources(self, *, healthy_only: bool) -> dict[str, str]:
        """Return capacity, or with healthy_only allocatable: 0 while the plugin is down (K5.1-1)."""
        cards = sum(self.health) if healthy_only else len(self.health)
        cards = cards if self.plugin_up or not healthy_only else 0
        amounts = self.vendor.capacity | self.model.capacity
        native = {"cpu": self.model.cpu, "memory": self.model.memory, "pods": _MAX_PODS}
        return native | {name: str(amount * cards) for name, amount in amounts.items()}

    def annotations(self) -> dict[str, str]:
        """Return what the device plugin writes on the node."""
        text = fleet.register_text(self.vendor, self.model, self.name, self.health)
        return self.vendor.annotations | ({self.vendor.register["key"]: text} if text else {})

    def body(self) -> Json:
        labels = {
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "gpu": "on",
        }
        return {
            "metadata": {
                "name": self.name,
                "labels": labels | self.model.labels,
                "annotations": self.annotations(),
            },
            "spec": {"podCIDR": ""},
            "status": {
                "capacity": self.resources(healthy_only=False),
                "allocatable": self.resources(healthy_only=True),
                "conditions": [_condition("MemoryPressure", "False"), _condition("Ready", "True")],
                "addresses": [
                    {"type": "InternalIP", "address": self.address},
                    {"type": "Hostname", "address": self.name},
                ],
                "nodeInfo": _NODE_INFO
                | {"machineID": self.name, "systemUUID": self.name, "bootID": self.name},
            },
        }


@dataclass(slots=True)
class Inventory:
    """The nodes by name; safe for many threads, each record belongs to who changes it."""

    _nodes: dict[str, NodeRecord] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0

    def add(self, vendor: Vendor, model: Model, cards: int) -> NodeRecord:
        """Return a new node, named after its model and a running number."""
        with self._lock:
            self._count += 1
            name = f"{model.name}-{self._count:02d}"
            record = NodeRecord(name, vendor, model, [True] * cards, self._count)
            self._nodes[name] = record
            return record

    def remove(self, name: str) -> None:
        with self._lock:
            self._nodes.pop(name, None)

    def get(self, name: str) -> NodeRecord | None:
        with self._lock:
            return self._nodes.get(name)

    def all(self) -> list[NodeRecord]:
        with self._lock:
            return list(self._nodes.values())

    def vendors(self) -> list[Vendor]:
        """Return the vendors that have a node, by name."""
        found = {record.vendor.name: record.vendor for record in self.all()}
        return [found[name] for name in sorted(found)]


def _condition(kind: str, status: str) -> Json:
    reason = "KubeletReady" if kind == "Ready" else "KubeletHasSufficientMemory"
    stamp = time_text()
    row = {"type": kind, "status": status, "reason": reason, "message": reason}
    return row | {"lastHeartbeatTime": stamp, "lastTransitionTime": stamp}
