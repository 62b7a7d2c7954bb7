"""Why a node has no cards for us: three causes, which the wire calls ``node unregistered`` (N16, M-23)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.errors import CodecError, EmptyRegistrationError
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

    Not selected (R-4), no device plugin that ever wrote what it has, or one whose register text is there and
    gives no cards all the same.
    """
    lacking = [f"{key}={value}" for key, value in sorted(selector.items()) if node.labels.get(key) != value]
    if lacking:
        return f"not selected: label {', '.join(lacking)} is missing"
    found: dict[str, list[str]] = defaultdict(list)
    for key, backend in sorted(backends.items()):
        if backend.keys.register and backend.keys.register in node.annotations:
            found[_lacking(node, backend)].append(key)
    if found:
        return "; ".join(f"{', '.join(keys)}: {why}" for why, keys in found.items())
    return "no device plugin has registered cards: no register annotation, no capacity"


def _lacking(node: Node, backend: DeviceBackend) -> str:
    """Say why a register text gives no cards.

    It is an empty list (N06), cannot be read, or waits for the handshake (R-8, R-10) or for capacity (IF-3).
    """
    try:
        backend.node_cards(node)
    except EmptyRegistrationError:
        return "the device plugin registers an empty list"
    except CodecError:
        return "the register annotation cannot be read"
    if backend.keys.handshake:
        return "the device plugin does not answer the handshake"
    return f"no {backend.names.count} in the node's capacity"
