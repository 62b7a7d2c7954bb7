"""Which policy counted, whose word it was, and what the score was made of (P02, P10, P11)."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from scheduler_app.core import annotations
from scheduler_app.core.publication import DecisionView, PolicyView

NODE_POLICIES = ("binpack", "spread")
CARD_POLICIES = ("binpack", "spread", "numa", "mutex", "topology-aware")
WORDS_ANYWHERE = ("mutex", "topology-aware")
BASE_PART = ""


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """``source`` says whose word the policy is; ``hint`` is empty where there is nothing to mend."""

    what: str
    name: str
    source: str
    hint: str = ""


def policy_lines(decision: DecisionView, *, owner: str | None) -> list[PolicyLine]:
    """Return node and GPU policy of a decision; none where it ended before they were read.

    ``owner`` is empty for a pod that nobody owns, and None where that is not known.
    """
    if decision.card_policy == PolicyView():
        return []
    node, card = decision.node_policy, decision.card_policy
    wrong = _wrong(() if node.name in NODE_POLICIES else (node.name,), acts_as="binpack")
    wrong_card = _wrong_card_policy(card.name)
    return [
        _line(node, what=_("Node policy"), key=annotations.NODE_POLICY, wrong=wrong, owner=owner),
        _line(card, what=_("GPU policy"), key=annotations.CARD_POLICY, wrong=wrong_card, owner=owner),
    ]


def _line(policy: PolicyView, *, what: str, key: str, wrong: str, owner: str | None) -> PolicyLine:
    if policy.is_own:
        return PolicyLine(what, policy.name, _("from the pod's annotation {key}").format(key=key), wrong)
    text = _("{key} on {owner} itself has no effect; it belongs on the pod template.")
    misplaced = "" if owner == "" else text.format(key=key, owner=owner or _("a Deployment or Job"))
    hint = wrong or misplaced
    return PolicyLine(what, policy.name, _("from the scheduler's settings"), hint)


def _wrong_card_policy(name: str) -> str:
    """Return what of a GPU policy counts for nothing: of a list it is the words that are none (F-24).

    A single one is compared as it is written, but for those that are looked for as a word (VA-10, NV-40).
    """
    if "," not in name:
        is_known = name in CARD_POLICIES or name.strip() in WORDS_ANYWHERE
        return _wrong(() if is_known else (name,), acts_as="spread")
    words = [word for word in map(str.strip, name.split(",")) if word]
    known = [word for word in words if word in CARD_POLICIES]
    unknown = [word for word in words if word not in known]
    return _wrong(unknown, acts_as=", ".join(known) or "spread")


def _wrong(words: Sequence[str], *, acts_as: str) -> str:
    if not words:
        return ""
    text = _("{words}: no such policy, so this acts as {acts_as}.")
    return text.format(words=", ".join(f"“{word}”" for word in words), acts_as=acts_as)


def score_text(decision: DecisionView) -> str:
    """Return the winner's score with its parts and the direction that wins; empty without a winner."""
    if not decision.score_parts:
        return ""
    is_spread = decision.node_policy.name == "spread"
    direction = _("lower is better under spread") if is_spread else _("higher is better, except under spread")
    parts = [f"{decision.score_parts.get(BASE_PART, 0.0):.2f} " + _("use of the node")]
    parts += [f"{value:.2f} {name}" for name, value in decision.score_parts.items() if name != BASE_PART]
    return f"{decision.score:.2f} = {' + '.join(parts)}; {direction}"
