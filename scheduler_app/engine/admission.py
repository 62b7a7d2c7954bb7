"""What the webhook decides about a new pod (rules W-4 to W-9)."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_app.core import annotations
from scheduler_app.core.admission import ContainerDraft, Operation, PodDraft
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import AdmissionRefusal
from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.ports import DecisionLog
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import CardRequest, Container
from scheduler_app.engine import podshape
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.handover import own_keys
from scheduler_app.engine.misplaced import LikelyMistakes

logger = logging.getLogger(__name__)
DEFAULT_SCHEDULER = "default-scheduler"
NO_CONTENT = "there is no content to decode"
Parsed = Sequence[tuple[ContainerDraft, Container]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer: ``code`` 200 lets the pod in; ``patch`` holds the JSON patch operations, if any."""

    code: int = 200
    message: str = ""
    patch: Sequence[Operation] = ()
    warnings: Sequence[str] = ()

    @property
    def is_allowed(self) -> bool:
        return self.code == 200


@dataclass(frozen=True, slots=True)
class Denied(Exception):  # noqa: N818  (a jump out of the decision tree, answered as a verdict)
    """Ends the review early with a code and the text that the user reads."""

    code: int
    message: str
    warnings: Sequence[str] = field(default_factory=tuple)


class Admission:
    """Reviews pods. Needs neither leadership nor a synced state (W-6)."""

    def __init__(
        self,
        *,
        backends: Backends,
        state: ClusterState,
        log: DecisionLog,
        config: SchedulerConfig,
        clock: Callable[[], float],
    ) -> None:
        self._backends = dict(sorted(backends.items()))
        self._mistakes = LikelyMistakes(self._backends.values())
        self._state = state
        self._log = log
        self._config = config
        self._clock = clock
        self._own_keys = sorted(own_keys(backends) | {annotations.BIND_PHASE, annotations.BIND_TIME})

    def review(self, raw: Any, *, namespace: str = "", is_new: bool = True) -> Verdict:
        """Decide about the pod object ``raw``, which is handed over: it is changed as the patch says.

        ``namespace`` is the request's. ``is_new`` False: the pod exists, and what the scheduler wrote to it
        stays.
        """
        try:
            podshape.check(raw)
        except podshape.ShapeError as exc:
            return Verdict(400, str(exc))
        draft = PodDraft(raw)
        try:
            message = self._decide(draft, draft.namespace, is_new=is_new)
        except Denied as denied:
            self._record(draft, namespace, denied)
            return Verdict(denied.code, denied.message, warnings=(*draft.warnings, *denied.warnings))
        return Verdict(message=message, patch=tuple(draft.operations), warnings=tuple(draft.warnings))

    def _decide(self, draft: PodDraft, namespace: str, *, is_new: bool) -> str:
        """Walk the tree of W-4; return the message of an answer that lets the pod in."""
        if not draft.spec.get("containers"):
            raise Denied(403, "pod has no containers")
        if is_new:
            self._remove_own_annotations(draft)
        if self._is_of_another_scheduler(draft):
            return "pod already has different scheduler assigned"
        containers = draft.containers()
        is_ours = self._mutate(draft, containers)
        parsed = [(container, _container(container)) for container in containers]
        self._mistakes.warn(draft, [read for _, read in parsed])
        if is_ours:
            self._claim(draft, containers)
        self._check_quota(namespace, parsed)
        return ""

    def _remove_own_annotations(self, draft: PodDraft) -> None:
        """Remove what only a decision may write: it comes with copied manifests and restored backups."""
        for key in self._own_keys:
            if key in draft.annotations:
                draft.remove_annotation(key)
                draft.warn(f"annotation {key} removed: only the scheduler writes it")

    def _is_of_another_scheduler(self, draft: PodDraft) -> bool:
        named = str(draft.spec.get("schedulerName") or "")
        if not named or (named == DEFAULT_SCHEDULER and self._config.force_overwrite_default_scheduler):
            return False
        return not self._config.scheduler_name or named != self._config.scheduler_name

    def _mutate(self, draft: PodDraft, containers: Sequence[ContainerDraft]) -> bool:
        """Let every vendor complete every container; say whether any of them is concerned."""
        found = False
        for container in containers:
            for backend in self._backends.values():
                try:
                    found = backend.mutate(container, draft) or found
                except AdmissionError as exc:
                    raise Denied(500, str(exc)) from exc
        return found

    def _claim(self, draft: PodDraft, containers: Sequence[ContainerDraft]) -> None:
        """Make a pod with devices ours (steps 5 and 6)."""
        for container in containers:
            if container.is_privileged:
                raise Denied(403, f"container {container.name} is privileged")
        name = self._config.scheduler_name
        if not name:
            return
        if draft.spec.get("schedulerName") != name:
            draft.set(("spec", "schedulerName"), name)
        if draft.spec.get("nodeName"):
            raise Denied(403, "pod has node assigned")

    def _check_quota(self, namespace: str, parsed: Parsed) -> None:
        """Refuse what would exceed the namespace's quota, after mutation (W-9)."""
        quota = self._state.quota(namespace)
        for backend in self._backends.values():
            names = backend.names
            if not (names.mem or names.cores):
                continue
            asked = [(draft_, backend.request(container)) for draft_, container in parsed]
            mem, cores = (_peak(asked, amount) for amount in (_memory, _cores))
            if (mem or cores) and not quota.allows(names, mem_mib=mem, cores=cores):
                told = [
                    _numbers(resource, namespace, quota.entries.get(resource), more)
                    for resource, more in ((names.mem, mem), (names.cores, cores))
                ]
                raise Denied(403, "exceeding resource quota", [text for text in told if text])

    def _record(self, draft: PodDraft, namespace: str, denied: Denied) -> None:
        where = draft.namespace or namespace
        owner = podshape.owner(draft.raw)
        logger.info(
            "refused pod=%s/%s code=%d message=%s",
            where,
            podshape.name(draft.raw),
            denied.code,
            denied.message,
        )
        refusal = AdmissionRefusal(where, owner, denied.message, int(self._clock() * 1000))
        self._log.record_refusal(refusal)


def _container(draft: ContainerDraft) -> Container:
    return Container(draft.name, draft.limits, draft.requests, draft.raw.get("restartPolicy") == "Always")


def _memory(request: CardRequest) -> int:
    return request.mem_mib * request.cards


def _cores(request: CardRequest) -> int:
    return request.cores * request.cards


def _peak(
    asked: Sequence[tuple[ContainerDraft, CardRequest | None]], amount: Callable[[CardRequest], int]
) -> int:
    """Return the larger of the app containers' sum and the largest init container (W-9).

    Sidecars run beside the app containers and are summed with them (Q-23).
    """
    running, peak = 0, 0
    for draft, request in asked:
        if request is None or request.cards < 1:
            continue
        if draft.is_init and draft.raw.get("restartPolicy") != "Always":
            peak = max(peak, amount(request))
        else:
            running += amount(request)
    return max(running, peak)


def _numbers(resource: str, namespace: str, entry: Any, more: int) -> str:
    if entry is None or entry.limit is None or not more:
        return ""
    return (
        f"quota {entry.source} of namespace {namespace}: limits.{resource} is {entry.limit}, "
        f"used {entry.used}, this pod asks {more}"
    )
