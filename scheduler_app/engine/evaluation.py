"""Evaluating candidates on the plain path: what each node offers a pod (F-18)."""

from collections.abc import Mapping, Sequence

from scheduler_app.core import annotations, reasons
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.findings import Findings
from scheduler_app.core.predicate import Ask, Backends, Outcome, predicate
from scheduler_app.core.quota import NamespaceQuota
from scheduler_app.core.score import parse_weights
from scheduler_app.core.types import NodeName, NodeUsage, Pod, Requests

UNREGISTERED = Outcome(None, reason=reasons.NODE_UNREGISTERED)


def ask_for(
    pod: Pod, *, requests: Requests, backends: Backends, config: SchedulerConfig, quota: NamespaceQuota
) -> Ask:
    """Collect what a filter call depends on besides the nodes (F-17, F-23, F-38).

    Raises:
        WeightsError: the pod's scoring weights cannot be read.
    """
    given = pod.annotations
    return Ask(
        pod,
        requests,
        backends,
        node_policy=given.get(annotations.NODE_POLICY, config.node_policy),
        card_policy=given.get(annotations.CARD_POLICY, config.card_policy),
        weights=parse_weights(annotations.SCORING_WEIGHTS, given.get(annotations.SCORING_WEIGHTS)),
        quota=quota,
        checks_all_quota=config.quota_all_vendors,
    )


def evaluate(ask: Ask, names: Sequence[NodeName], nodes: Mapping[NodeName, NodeUsage]) -> Findings:
    """Evaluate every candidate; names that are not registered are refused (M-23), duplicates collapse."""
    found = {name: predicate(ask, nodes[name]) if name in nodes else UNREGISTERED for name in names}
    return Findings.of(found, policy=ask.node_policy)
