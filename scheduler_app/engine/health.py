"""Which cards fell ill and recovered, told to whoever keeps history (N18)."""

from collections.abc import Callable, Mapping

from scheduler_app.core.decision import HealthReport
from scheduler_app.core.publication import NodeView
from scheduler_app.core.types import CardId, NodeName


class HealthLog:
    """Tells what it sees first and what changed since. Used by the publisher thread alone."""

    def __init__(self, keep: Callable[[HealthReport], None]) -> None:
        self._keep = keep
        self._known: dict[NodeName, Mapping[CardId, bool]] = {}
        self._fresh: dict[NodeName, Mapping[CardId, bool]] = {}

    def see(self, node: NodeView) -> None:
        """Compare a node with how it was. Cards that left are forgotten: whoever keeps history knows them."""
        name, now = NodeName(node.name), {CardId(card.id): card.healthy for card in node.cards}
        before = self._known.get(name, {})
        if now == before:
            return
        self._known[name] = now
        changed = {id: healthy for id, healthy in now.items() if before.get(id) is not healthy}
        if changed:
            self._fresh[name] = changed

    def tell(self, *, at_ms: int) -> None:
        """Report what was seen since the last time, in one piece: the first look at a cluster is long."""
        if self._fresh:
            self._keep(HealthReport(self._fresh, at_ms))
            self._fresh = {}

    def gone(self, name: NodeName) -> None:
        self._known.pop(name, None)
