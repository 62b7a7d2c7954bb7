"""Log lines of what pods hold of cards that their node does not register: replaced, or an odd text (F11)."""

import logging

from scheduler_app.core.publication import NodeView
from scheduler_app.core.types import NodeName

logger = logging.getLogger(__name__)
Held = tuple[str, str]
"""A pod's uid and a card's id."""


class OrphanLog:
    """Tells each such allocation once, as long as its pod holds it. Used by the publisher thread alone."""

    def __init__(self) -> None:
        self._told: dict[NodeName, set[Held]] = {}

    @property
    def nodes(self) -> int:
        """Of how many nodes something is remembered."""
        return len(self._told)

    def see(self, node: NodeView) -> None:
        """Log what is new among the node's orphans. A card that comes and goes under its pod is not new.

        A node that registers nothing at all is no news of its pods: after a start it may just not have
        answered yet.
        """
        name = NodeName(node.name)
        told = self._told.get(name)
        if not (told or node.orphans):
            return
        told = told or set()
        for orphan in node.orphans if node.state != "unregistered" else ():
            held = (orphan.pod.uid, orphan.card)
            if held not in told:
                told.add(held)
                key = f"{orphan.pod.namespace}/{orphan.pod.name}"
                logger.warning("card not registered pod=%s node=%s card=%s", key, name, orphan.card)
        self._remember(name, told & _all_held(node))

    def gone(self, name: NodeName) -> None:
        self._told.pop(name, None)

    def _remember(self, name: NodeName, told: set[Held]) -> None:
        if told:
            self._told[name] = told
        else:
            self.gone(name)


def _all_held(node: NodeView) -> set[Held]:
    held = {(orphan.pod.uid, orphan.card) for orphan in node.orphans}
    return held | {(pod.uid, card.id) for card in node.cards for pod in card.pods}
