"""A registrar over fakes whose passes are run by hand: what tests of registration start from."""

from collections.abc import Mapping

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import Node, NodeName, VendorKey
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.nodewrites import NodeWrites
from scheduler_app.engine.registration import Registrar
from tests.core.plain import COUNT, PLAIN
from tests.engine.world import PLAIN_ONLY, REGISTER, registered
from tests.factories import make_node
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeNodes, FakeNodeWriter
from tests.fakes.told import FakeEvents

HANDSHAKE = PLAIN.keys.handshake
N1 = NodeName("n1")


class Passes:
    """A registrar over nodes as the watch has delivered them; writes go back into what the watch shows."""

    def __init__(
        self,
        *nodes: Node,
        backends: Mapping[VendorKey, DeviceBackend] = PLAIN_ONLY,
        selector: Mapping[str, str] | None = None,
    ) -> None:
        self.nodes, self.writer, self.events = FakeNodes(nodes), FakeNodeWriter(), FakeEvents()
        self.clock, self.state = FakeClock(), ClusterState(backends)
        self.writes = NodeWrites(self.writer)
        self.registrar = Registrar(
            backends=backends,
            state=self.state,
            nodes=self.nodes,
            writer=self.writer,
            writes=self.writes,
            events=self.events,
            selector=selector or {},
            now=self.clock.local,
        )

    def run(self, *, after: float = 0.0) -> None:
        """Run one pass and deliver what it wrote."""
        self.clock.advance(after)
        self.registrar.run_pass()
        seen = len(self.writer.patches)
        self.writes.drain()
        for name, written in self.writer.patches[seen:]:
            node = self.nodes.get(name)
            if node is not None:
                merged = {**node.annotations, **written}
                kept = {key: text for key, text in merged.items() if text is not None}
                self.nodes.change(name, annotations=kept)

    def annotate(self, name: str = "n1", **annotations: str | None) -> None:
        node = self.nodes.seen[NodeName(name)]
        keys = {"register": REGISTER, "handshake": HANDSHAKE}
        merged = {**node.annotations, **{keys.get(key, key): text for key, text in annotations.items()}}
        self.nodes.change(name, annotations={key: text for key, text in merged.items() if text is not None})

    def cards(self, name: str = "n1") -> list[str]:
        usage = self.state.everything().get(NodeName(name))
        return [card.id for card in usage.cards] if usage else []


def handshaken(text: str, *cards: str, count: int = 10) -> Node:
    """Return a node with cards whose handshake annotation is ``text``."""
    node = registered("n1", *cards)
    return make_node("n1", annotations={**node.annotations, HANDSHAKE: text}, allocatable={COUNT: str(count)})
