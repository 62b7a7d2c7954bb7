"""Why a node has no cards for us: three causes, which the wire calls ``node unregistered`` (N16, M-23)."""

from collections.abc import Mapping

from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import Node


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
