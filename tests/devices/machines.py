"""A node of every model that the simulated fleets know, and the backends of the shipped configuration."""

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_app import deviceconfig, vendortable
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import Node, VendorKey
from scheduler_app.kube.decode import decode_node
from simcluster import fleet
from simcluster.fleet import Model, Vendor
from simcluster.nodes import NodeRecord
from tests.devices.placing import OneNode

SHIPPED = deviceconfig.load(vendortable.CONFIG.read_text(encoding="utf-8"), vendortable.all_enabled())


@dataclass(frozen=True, slots=True)
class Machine:
    """One model of one vendor."""

    vendor: Vendor
    model: Model

    def __str__(self) -> str:
        return f"{self.vendor.name}/{self.model.name}"

    @property
    def backend(self) -> DeviceBackend:
        return SHIPPED.backends[VendorKey(self.vendor.name)]

    def node(
        self,
        cards: int,
        *,
        sick: int | None = None,
        annotations: Mapping[str, str] | None = None,
        name: str = "n1",
    ) -> Node:
        """Return a node with so many cards, of which one may be sick where the plugin can say so."""
        health = [place != sick for place in range(cards)]
        body = NodeRecord(name, self.vendor, self.model, health, 1).body()
        body["metadata"]["annotations"] |= annotations or {}
        return decode_node(body)

    def idle(
        self, cards: int, *, sick: int | None = None, annotations: Mapping[str, str] | None = None
    ) -> OneNode:
        return OneNode(self.backend, node=self.node(cards, sick=sick, annotations=annotations))


MACHINES = [
    Machine(vendor, model) for vendor in map(fleet.vendor, fleet.vendor_names()) for model in vendor.models
]
