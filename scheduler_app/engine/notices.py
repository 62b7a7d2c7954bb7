"""The Events of a filter call, in the reference's words (F-34, F-40, F-42)."""

from collections.abc import Mapping, Sequence
from heapq import nsmallest

from scheduler_app.core import reasons
from scheduler_app.core.findings import Findings
from scheduler_app.core.types import NodeName

CAUSES = 5  # texts about unregistered nodes that are told of a call, those of most nodes first
LISTED = 200  # nodes that an Event names; the reference names all, in a hundred kilobytes for each pod
_UNREGISTERED = f"{reasons.NODE_UNREGISTERED}: "
NORMAL, WARNING = "Normal", "Warning"
FILTERING_FAILED, FILTERING_SUCCEED = "FilteringFailed", "FilteringSucceed"
BINDING_FAILED, BINDING_SUCCEED = "BindingFailed", "BindingSucceed"


def refusals(by_text: Mapping[str, Sequence[NodeName]]) -> list[str]:
    """Return one message a reason word, ``"2 nodes CardNotHealth(n1,n2)"``, words ascending (F-34).

    Texts without ``<n>/<m>`` contribute nothing (Q-40).
    """
    nodes: dict[str, list[str]] = {}
    for text, names in by_text.items():
        for word in dict.fromkeys(reasons.words(text)):
            nodes.setdefault(word, []).extend(names)
    return [f"{len(names)} nodes {word}({_listed(names)})" for word, names in sorted(nodes.items())]


def unregistered(causes: Mapping[str, Sequence[NodeName]]) -> list[str]:
    """Return one message a cause of unregistered nodes; the reference has no word for them (N16, Q-40)."""
    found = [(text, names) for text, names in causes.items() if text.startswith(_UNREGISTERED)]
    found.sort(key=lambda cause: (-len(cause[1]), cause[0]))
    return [f"{len(names)} nodes {text}({_listed(names)})" for text, names in found[:CAUSES]]


def _listed(names: Sequence[str]) -> str:
    """Return the names ascending; of thousands the first, since an Event is for people."""
    if len(names) <= LISTED:
        return ",".join(sorted(names))
    return f"{','.join(nsmallest(LISTED, names))},… {len(names) - LISTED} more"


def nothing_fits(asked: int) -> str:
    return f"no available node, {asked} nodes do not meet"


def not_preempted(priority: int) -> str:
    """Say why a pod's priority changes nothing: there is no preempt verb (K02, CFG-12)."""
    return f"shares of GPUs are not preempted, priority {priority} does not help"


def placed(node: NodeName, findings: Findings, *, asked: int) -> str:
    """Return the success message; the winner stands last in the list (F-42)."""
    fitted = findings.fitted
    listed = ",".join(f"{name}:{score:.2f}" for name, score in findings.best_fitting(LISTED))
    more = f"{fitted - LISTED} more …," if fitted > LISTED else ""
    return f"find fit node({node}), {asked - fitted} nodes not fit, {fitted} nodes fit({more}{listed})"
