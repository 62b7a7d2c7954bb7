"""A cluster with a node of every kind of card that the default device configuration knows, a pod on each."""

from collections.abc import Sequence
from functools import cache

from scheduler_app import deviceconfig, vendortable
from scheduler_app.core.publication import NodeView, Publication
from scheduler_app.core.types import Node, VendorKey
from scheduler_app.deviceconfig import DeviceConfig
from scheduler_app.engine.pictures import Pictures
from scheduler_app.kube.decode import decode_node
from simcluster import fleet
from simcluster.nodes import Inventory
from tests.dashboard.clusters import make_publication
from tests.engine.world import World
from tests.factories import make_container, make_pod

CARDS = 4


@cache
def devices() -> DeviceConfig:
    return deviceconfig.load(vendortable.CONFIG.read_text(encoding="utf-8"), vendortable.all_enabled())


def _nodes() -> list[Node]:
    """Return nodes as the simulated device plugins register them, named after their model."""
    inventory = Inventory()
    for key in devices().backends:
        vendor = fleet.vendor(key)
        inventory.add(vendor, vendor.models[0], CARDS)
    return [decode_node(record.body()) for record in inventory.all()]


@cache
def views() -> Sequence[NodeView]:
    """Return every node with one pod on it that asks for one card and nothing else."""
    nodes = _nodes()
    world = World(*nodes, backends=devices().backends)
    for key, backend in devices().backends.items():
        container = make_container(limits={backend.names.count: 1})
        world.filter(make_pod(name=f"on-{key.lower()}", phase="Running", containers=(container,)))
    by_name = {node.name: node for node in nodes}
    pictures = Pictures(
        state=world.state, backends=devices().backends, titles=devices().titles, node=by_name.get,
        problems=dict, registered_ms=lambda: 1_793_582_531_000,
    )  # fmt: skip
    usage = world.state.everything()
    return tuple(view for name in usage if (view := pictures.node(name, usage[name])))


def view_of(key: str) -> NodeView:
    """Return the node of one kind of card."""
    title = devices().titles[VendorKey(key)]
    held = {view.name: {pod.name for card in view.cards for pod in card.pods} for view in views()}
    return next(v for v in views() if f"on-{key.lower()}" in held[v.name] and v.cards[0].vendor == title)


def publication() -> Publication:
    return make_publication(nodes=tuple(views()))
