"""Why a node has no cards for us: three causes, which the wire calls ``node unregistered`` (N16, M-23)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import Node, NodeName

REMEMBERED_SECONDS = 5.0


class Explainer:
    """Explains nodes by name, as they are when somebody asks. Called by the threads of Events and history.

    ``problems`` are those that registration met; ``has_cards`` says whether a node is registered by now.
    Explanations stand for ``REMEMBERED_SECONDS``: each decision asks for thousands of the same nodes, and
    whoever works takes the interpreter from filter calls.
    """

    def __init__(
        self,
        *,
        node: Callable[[NodeName], Node | None],
        has_cards: Callable[[NodeName], bool],
        problems: Callable[[], Mapping[NodeName, str]],
        backends: Backends,
        selector: Mapping[str, str],
        monotonic: Callable[[], float],
    ) -> None:
        self._monotonic = monotonic
        self._told: dict[NodeName, str] = {}
        self._told_since = float("-inf")
        self._node = node
        self._has_cards = has_cards
        self._problems = problems
        self._backends = backends
        self._selector = selector

    def __call__(self, names: Iterable[NodeName]) -> Mapping[str, list[NodeName]]:
        """Return the nodes by what keeps each from registering."""
        if self._monotonic() - self._told_since > REMEMBERED_SECONDS:
            self._told, self._told_since = {}, self._monotonic()
        told = self._told  # another thread may begin anew meanwhile
        found: dict[str, list[NodeName]] = defaultdict(list)
        for name in names:
            if (text := told.get(name)) is None:
                text = told[name] = self._explain(name)
            found[text].append(name)
        return found

    def _explain(self, name: NodeName) -> str:
        if self._has_cards(name):
            return "it has registered since"
        if problem := self._problems().get(name):
            return problem
        node = self._node(name)
        if node is None:
            return "no such node is known"
        return explanation(node, backends=self._backends, selector=self._selector)


def explanation(node: Node, *, backends: Backends, selector: Mapping[str, str]) -> str:
    """Return what keeps a node without cards from registering, in words.

    Not selected (R-4), no device plugin that ever wrote what it has, or one whose handshake was not answered
    in time: then its register text is still there and waits for it (R-8, R-10).
    """
    lacking = [f"{key}={value}" for key, value in sorted(selector.items()) if node.labels.get(key) != value]
    if lacking:
        return f"not selected: label {', '.join(lacking)} is missing"
    silent = sorted(
        key for key, b in backends.items() if b.keys.register and b.keys.register in node.annotations
    )
    if silent:
        return f"{', '.join(silent)}: the device plugin does not answer the handshake"
    return "no device plugin has registered cards: no register annotation, no capacity"
