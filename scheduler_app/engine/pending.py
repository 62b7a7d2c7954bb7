"""Pods of ours that wait, and what the last tries said: the board behind "why is my pod pending"."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nsmallest

from scheduler_app.core import annotations, reasons
from scheduler_app.core.decision import AdmissionRefusal, BindOutcome, Decision
from scheduler_app.core.findings import NO_FINDINGS
from scheduler_app.core.predicate import Backends, requests_of
from scheduler_app.core.publication import (
    AskView,
    DecisionView,
    PendingPod,
    PolicyView,
    ReasonGroup,
    StopView,
)
from scheduler_app.core.types import NodeName, Pod, PodUid
from scheduler_app.engine.asks import asks
from scheduler_app.engine.links import ConsoleLinks
from scheduler_app.engine.stops import EXAMPLES, NO_NAMES, refused_containers, stops

RECENT_DECISIONS = 200
BIND = "bind"  # the cause of a pod whose bind failed
GROUPS = 50
LEFT_KEPT = 1000  # pods that left lately: a decision that was on its way does not bring them back


@dataclass(frozen=True, slots=True)
class BoardChanges:
    """What changed since the last look, for one publication."""

    put: tuple[PendingPod, ...]
    gone: tuple[str, ...]
    decisions: tuple[DecisionView, ...]


class PendingBoard:
    """Fed by the pods' reflector and by request threads; emptied by the publisher. Memory work only."""

    def __init__(self, *, backends: Backends, scheduler_name: str) -> None:
        self._backends = backends
        self._scheduler_name = scheduler_name
        self._lock = threading.Lock()
        self._waiting: dict[PodUid, PendingPod] = {}
        self._put: dict[PodUid, PendingPod] = {}
        self._gone: set[PodUid] = set()
        self._left: deque[PodUid] = deque(maxlen=LEFT_KEPT)
        self._fresh: list[DecisionView] = []
        self._recent: deque[DecisionView] = deque(maxlen=RECENT_DECISIONS)

    def seen(self, pod: Pod) -> None:
        """Take a pod as the watch shows it."""
        waits = not (pod.is_terminal or pod.is_terminating) and pod.phase in ("", "Pending")
        if not waits or (pod.node_name and not self._is_ours_by_name(pod)):
            self.gone(pod.uid)
            return
        requests = requests_of(pod, self._backends)
        if not any(requests) and not (self._is_ours_by_name(pod) and not pod.node_name):
            self.gone(pod.uid)
            return
        with self._lock:
            known = self._waiting.get(pod.uid)
            self._set(_refreshed(known or _new(pod), pod, asks(pod, requests, backends=self._backends)))

    def gone(self, uid: PodUid) -> None:
        with self._lock:
            if self._waiting.pop(uid, None) is not None:
                self._put.pop(uid, None)
                self._gone.add(uid)
                self._left.append(uid)

    def decided(self, decision: Decision) -> str:
        """Take a decision and return the cause for which its pod waits, empty when it is placed."""
        if decision.kind == "placed":
            self._note(decision, (), "")
            return ""
        groups = groups_of(decision.findings.by_text, containers=refused_containers(decision))
        cause = _cause(decision, groups)
        self._note(decision, groups, cause, stops(decision))
        return cause

    def _note(
        self,
        decision: Decision,
        groups: tuple[ReasonGroup, ...],
        cause: str,
        stopped: tuple[StopView, ...] = (),
    ) -> None:
        with self._lock:
            view = view_of(decision)
            self._fresh.append(view)
            self._recent.appendleft(view)
            known = self._waiting.get(decision.pod.uid)
            if known is None and decision.pod.uid in self._left:
                return
            known = known or _new(decision.pod)
            self._set(
                replace(
                    known,
                    asks=asks(decision.pod, decision.requests, backends=self._backends),
                    cause=cause,
                    tries=known.tries + 1,
                    last_try_ms=decision.at_ms,
                    asked=decision.asked,
                    groups=groups,
                    stops=stopped,
                    error=decision.error,
                    placed_on=str(decision.chosen.node) if decision.chosen else "",
                )
            )

    def bound(self, outcome: BindOutcome) -> None:
        """Note a bind that failed; one that worked ends the wait with the next watch event."""
        with self._lock:
            known = self._waiting.get(PodUid(outcome.uid))
            if known is not None and outcome.error:
                self._set(replace(known, cause=BIND, error=outcome.error))

    def take_changes(self) -> BoardChanges:
        """Return what changed since the last call. One caller: the publisher thread."""
        with self._lock:
            put, gone = tuple(self._put.values()), tuple(self._gone)
            fresh = tuple(self._fresh)
            self._put, self._gone, self._fresh = {}, set(), []
        return BoardChanges(put, gone, fresh)

    def waiting(self) -> tuple[PendingPod, ...]:
        with self._lock:
            return tuple(self._waiting.values())

    def recent(self) -> tuple[DecisionView, ...]:
        """Return the last decisions, newest first."""
        with self._lock:
            return tuple(self._recent)

    def _is_ours_by_name(self, pod: Pod) -> bool:
        return bool(self._scheduler_name) and pod.scheduler_name == self._scheduler_name

    def _set(self, pod: PendingPod) -> None:
        uid = PodUid(pod.uid)
        if self._waiting.get(uid) != pod:
            self._waiting[uid] = self._put[uid] = pod
            self._gone.discard(uid)


def groups_of(
    by_text: Mapping[str, Sequence[NodeName]], *, containers: Mapping[str, tuple[str, ...]] = NO_NAMES
) -> tuple[ReasonGroup, ...]:
    """Return the refusals by text, largest group first; ``containers`` are the refused ones by text."""
    ordered = nsmallest(GROUPS, by_text.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return tuple(
        ReasonGroup(text, len(nodes), tuple(nsmallest(EXAMPLES, nodes)), containers.get(text, ()))
        for text, nodes in ordered
    )


def view_of(decision: Decision) -> DecisionView:
    return DecisionView(
        decision.at_ms,
        decision.pod.namespace,
        decision.pod.name,
        decision.pod.uid,
        decision.kind,
        str(decision.chosen.node) if decision.chosen else "",
        decision.chosen.score if decision.chosen else 0.0,
        decision.asked,
        decision.findings.fitted,
        decision.duration_ms,
        decision.error or ("" if decision.chosen else _dominant(decision)),
        _policy(decision, decision.node_policy, key=annotations.NODE_POLICY),
        _policy(decision, decision.card_policy, key=annotations.CARD_POLICY),
        decision.chosen.parts if decision.chosen else {},
    )


def _dominant(decision: Decision) -> str:
    """Return the text that most nodes were refused with; of a placed pod nobody asks, and it is work."""
    texts = _telling(decision.findings.texts)
    return max(texts, key=lambda text: (texts[text], text), default="")


def _policy(decision: Decision, name: str, *, key: str) -> PolicyView:
    """Return the policy and whose word it was; none where nothing was evaluated by it."""
    was_read = decision.findings is not NO_FINDINGS
    return PolicyView(name, key in decision.pod.annotations) if was_read else PolicyView()


def _cause(decision: Decision, groups: tuple[ReasonGroup, ...]) -> str:
    """Return the word that refused most nodes, or ``error``, or the bare text of the largest group."""
    if decision.error:
        return "error"
    counted: Counter[str] = Counter()
    for group in groups:
        for word in reasons.words(group.text):
            if word != reasons.CARDS_INSUFFICIENT:
                counted[word] += group.nodes
    bare = Counter({group.text: group.nodes for group in groups if not reasons.words(group.text)})
    best = Counter(_telling(counted + bare)).most_common(1)
    return best[0][0] if best else "no_candidates"


def _telling(nodes: Mapping[str, int]) -> Mapping[str, int]:
    """Leave out the nodes that could never hold the pod, unless no other was asked.

    In a mixed fleet most nodes have no card of the kind at all; what the others lack is why the pod waits.
    """
    others = {text: count for text, count in nodes.items() if text != reasons.NODE_INSUFFICIENT_DEVICE}
    return others or nodes


def _new(pod: Pod) -> PendingPod:
    since_ms = epoch_ms(pod.created)
    return PendingPod(pod.uid, pod.namespace, pod.name, pod.owner, since_ms, asks=(), priority=pod.priority)


def _refreshed(known: PendingPod, pod: Pod, asked: tuple[AskView, ...]) -> PendingPod:
    """Take what only the pod's own object says: kube-scheduler's words, gates, where it was bound to."""
    cause = known.cause
    if pod.scheduling_gates:
        cause = "gated"
    elif not known.tries:
        cause = "not_asked"
    return replace(
        known,
        owner=pod.owner,
        asks=asked,
        cause=cause,
        before_text=pod.scheduled.message if pod.scheduled.status == "False" else "",
        placed_on=pod.node_name or known.placed_on,
    )


def epoch_ms(created: str) -> int:
    """Return an RFC 3339 time as epoch milliseconds, 0 when it cannot be read."""
    try:
        return int(datetime.fromisoformat(created.replace("Z", "+00:00")).timestamp() * 1000)
    except ValueError:
        return 0


class Journal:
    """Hands decisions to everybody who keeps them. Implements ``core.ports.DecisionLog``."""

    def __init__(
        self,
        *,
        board: PendingBoard,
        keep: Callable[[Decision | BindOutcome | AdmissionRefusal], None],
        count: Callable[[Decision | BindOutcome | AdmissionRefusal], None],
        links: ConsoleLinks,
    ) -> None:
        self._board = board
        self._links = links
        self._keep = keep
        self._count = count

    def record(self, decision: Decision) -> None:
        cause = self._board.decided(decision)
        self._links.tell(decision.pod, cause)
        self._keep(decision)
        self._count(decision)

    def record_bind(self, outcome: BindOutcome) -> None:
        self._board.bound(outcome)
        pod = Pod(outcome.namespace, outcome.name, PodUid(outcome.uid))
        self._links.tell(pod, BIND if outcome.error else "")
        self._keep(outcome)
        self._count(outcome)

    def record_refusal(self, refusal: AdmissionRefusal) -> None:
        self._keep(refusal)
        self._count(refusal)
