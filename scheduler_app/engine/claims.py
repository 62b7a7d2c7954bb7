"""Pods whose Binding is on its way, or was made and has not come back in the watch: nothing moves them.

Without this a bind that outlives its caller's patience and a new decision for the same pod cross: the pod
ends on one node and its annotations name the cards of another (L13). Not locked: ``podbook.PodBook`` owns it.
"""

from dataclasses import dataclass

from scheduler_app.core import text as texts
from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import NodeName, Pod, PodUid


class OccupiedError(HamiError):
    """The pod is bound, about to be, or decided about by another call: it cannot be placed again now."""


@dataclass(slots=True)
class Claim:
    """One bind. ``held_back``: the pod as the watch showed it meanwhile, given up by kube-scheduler (F16)."""

    node: NodeName
    is_bound: bool = False
    held_back: Pod | None = None


class Claims:
    def __init__(self) -> None:
        self._by_uid: dict[PodUid, Claim] = {}

    def get(self, uid: PodUid) -> Claim | None:
        return self._by_uid.get(uid)

    def add(self, uid: PodUid, node: NodeName) -> None:
        self._by_uid[uid] = Claim(node)

    def drop(self, uid: PodUid) -> Claim | None:
        return self._by_uid.pop(uid, None)

    def bound_to(self, uid: PodUid) -> NodeName | None:
        claim = self._by_uid.get(uid)
        return claim.node if claim is not None and claim.is_bound else None

    def raise_if_claimed(self, uid: PodUid) -> None:
        claim = self._by_uid.get(uid)
        if claim is not None:
            how = "bound" if claim.is_bound else "being bound"
            raise OccupiedError(f"pod is {how} to node {texts.quote(claim.node)}")
