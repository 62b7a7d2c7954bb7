"""Evaluating candidates: what each node offers a pod, and which one wins (F-18, F-40)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_app.core import annotations, reasons
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import Requests
from scheduler_app.core.predicate import Ask, Backends, Outcome, predicate
from scheduler_app.core.quota import NamespaceQuota
from scheduler_app.core.score import parse_weights
from scheduler_app.core.types import Devices, NodeName, NodeUsage, Pod


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Nodes that fit with their scores, the winner last (F-40), and why the others do not."""

    fitting: tuple[tuple[NodeName, float], ...] = ()
    refused: Mapping[NodeName, str] = field(default_factory=dict)
    devices: Devices = field(default_factory=dict)  # of the winner


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
    )


def evaluate(ask: Ask, names: Sequence[NodeName], nodes: Mapping[NodeName, NodeUsage]) -> Evaluation:
    """Evaluate every candidate on the plain path; names that are not registered are refused (M-23)."""
    outcomes: dict[NodeName, Outcome] = {}
    for name in dict.fromkeys(names):
        node = nodes.get(name)
        outcomes[name] = predicate(ask, node) if node else Outcome(None, reason=reasons.NODE_UNREGISTERED)
    return rank(ask.node_policy, outcomes)


def rank(policy: str, outcomes: Mapping[NodeName, Outcome]) -> Evaluation:
    """Order what fits so that the winner is last; of equal scores the smallest name wins (F-40, Q-33)."""
    fits = [(name, outcome.score) for name, outcome in outcomes.items() if outcome.devices is not None]
    sign = -1.0 if policy == "spread" else 1.0
    fits.sort(key=lambda pair: pair[0], reverse=True)
    fits.sort(key=lambda pair: sign * pair[1])
    refused = {name: outcome.reason for name, outcome in outcomes.items() if outcome.devices is None}
    if not fits:
        return Evaluation((), refused)
    return Evaluation(tuple(fits), refused, outcomes[fits[-1][0]].devices or {})
