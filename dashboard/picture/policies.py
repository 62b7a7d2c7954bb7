"""Which policy counted, whose word it was, and what the score was made of (P02, P10, P11)."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from scheduler_app.core import annotations
from scheduler_app.core.publication import DecisionView, PolicyView

NODE_POLICIES = ("binpack", "spread")
CARD_POLICIES = ("binpack", "spread", "numa", "mutex", "topology-aware")
ORDERING_POLICIES = ("binpack", "spread", "numa")
BASE_PART = ""


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """``source`` says whose word the policy is; ``hint`` is empty where there is nothing to mend."""

    what: str
    name: str
    source: str
    hint: str = ""


def policy_lines(decision: DecisionView, *, owner: str = "") -> list[PolicyLine]:
    """Return node and GPU policy of a decision; none where it ended before they were read."""
    if decision.card_policy == PolicyView():
        return []
    node, card = decision.node_policy, decision.card_policy
    return [
        _line(_("Node policy"), node, annotations.NODE_POLICY, hint=_node_hint(node.name), owner=owner),
        _line(_("GPU policy"), card, annotations.CARD_POLICY, hint=_card_hint(card.name), owner=owner),
    ]


def _node_hint(name: str) -> str:
    return "" if name in NODE_POLICIES else _no_policy([name], acts_as="binpack")


def _card_hint(name: str) -> str:
    """Say what becomes of unknown words: alone one acts as spread, in a chain it is left out (F-24)."""
    if "," not in name:
        return "" if name in CARD_POLICIES else _no_policy([name], acts_as="spread")
    words = [word.strip() for word in name.split(",")]
    unknown = [word for word in words if word not in CARD_POLICIES]
    if not unknown:
        return ""
    if any(word in ORDERING_POLICIES for word in words):
        return _("{words}: no such policy, left out.").format(words=_quoted(unknown))
    return _no_policy(unknown, acts_as="spread")


def _no_policy(unknown: list[str], *, acts_as: str) -> str:
    text = _("{words}: no such policy, so this acts as {acts_as}.")
    return text.format(words=_quoted(unknown), acts_as=acts_as)


def _quoted(words: list[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _line(what: str, policy: PolicyView, key: str, *, hint: str, owner: str) -> PolicyLine:
    if not policy.is_own:
        text = _("{key} on {owner} itself has no effect; it belongs on the pod template.")
        misplaced = text.format(key=key, owner=owner or _("a Deployment or Job"))
        return PolicyLine(what, policy.name, _("from the scheduler's settings"), misplaced)
    return PolicyLine(what, policy.name, _("from the pod's annotation {key}").format(key=key), hint)


def score_text(decision: DecisionView) -> str:
    """Return the winner's score with its parts and the direction that wins; empty without a winner."""
    if not decision.score_parts:
        return ""
    is_spread = decision.node_policy.name == "spread"
    direction = _("lower is better under spread") if is_spread else _("higher is better, except under spread")
    parts = [f"{decision.score_parts.get(BASE_PART, 0.0):.2f} " + _("use of the node")]
    parts += [f"{value:.2f} {name}" for name, value in decision.score_parts.items() if name != BASE_PART]
    return f"{decision.score:.2f} = {' + '.join(parts)}; {direction}"
