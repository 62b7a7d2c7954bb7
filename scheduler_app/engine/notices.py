"""The Events of a filter call, in the reference's words (F-34, F-40, F-42)."""

from collections.abc import Mapping, Sequence

from scheduler_app.core import reasons
from scheduler_app.core.types import NodeName

NORMAL, WARNING = "Normal", "Warning"
FILTERING_FAILED, FILTERING_SUCCEED = "FilteringFailed", "FilteringSucceed"
BINDING_FAILED, BINDING_SUCCEED = "BindingFailed", "BindingSucceed"


def refusals(refused: Mapping[NodeName, str]) -> list[str]:
    """Return one message a reason word, ``"2 nodes CardNotHealth(n1,n2)"``, words ascending (F-34).

    Texts without ``<n>/<m>`` contribute nothing (Q-40).
    """
    nodes: dict[str, list[str]] = {}
    for node, text in refused.items():
        for word in dict.fromkeys(reasons.words(text)):
            nodes.setdefault(word, []).append(node)
    return [f"{len(names)} nodes {word}({','.join(sorted(names))})" for word, names in sorted(nodes.items())]


def nothing_fits(asked: int) -> str:
    return f"no available node, {asked} nodes do not meet"


def placed(node: NodeName, fitting: Sequence[tuple[NodeName, float]], *, asked: int) -> str:
    """Return the success message; the winner stands last in ``fitting`` (F-42)."""
    listed = ",".join(f"{name}:{score:.2f}" for name, score in fitting)
    return f"find fit node({node}), {asked - len(fitting)} nodes not fit, {len(fitting)} nodes fit({listed})"
