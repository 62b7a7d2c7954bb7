"""Pending pods by cause: what an admin acts on (console.md 6.3)."""

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard import presenters
from scheduler_app.core.display import PERCENT
from scheduler_app.core.publication import AskView, PendingPod

TIMES = "\u00d7"
NOT_ASKED = "not_asked"
PLACED = "placed"
ERROR = "error"


@dataclass(frozen=True, slots=True)
class Cause:
    """Pods with the same dominant reason and the same size. ``since_ms`` is the start of the longest wait."""

    key: str
    cause: str
    ask: str
    pods: int
    namespaces: tuple[str, ...]
    since_ms: int
    first: PendingPod


def cause_of(pod: PendingPod) -> str:
    """Return the kind of a pod's wait.

    The dominant reason word, or what stands in the way before and after it.
    """
    if pod.placed_on:
        return PLACED
    if pod.cause:
        return pod.cause
    if pod.error:
        return ERROR
    return NOT_ASKED


def ask_text(asks: Iterable[AskView]) -> str:
    """Return vendor, size and number of GPUs by container, equal ones told once."""
    return " + ".join(dict.fromkeys(_one(ask) for ask in asks))


def _one(ask: AskView) -> str:
    size = [ask.vendor]
    if ask.mem_mib:
        size.append(_amount(ask.mem_mib))
    elif 0 < ask.mem_percent <= 100:
        size.append(f"{ask.mem_percent} % memory")
    if ask.slices:
        size.append(_count(ask.slices, "slices"))
    if ask.cores:
        size.append(
            f"{ask.cores} % cores" if ask.cores_unit == PERCENT else _count(ask.cores, ask.cores_unit)
        )
    return " ".join(size) + f" {TIMES} {ask.cards}"


def _amount(mem_mib: int) -> str:
    """Return memory as it was asked, to four digits; beyond that as elsewhere, so that both read alike."""
    gib = mem_mib / presenters.MIB_PER_GIB
    return f"{gib:.4g} GiB" if gib < 100 else presenters.memory(mem_mib)


def _count(number: int, unit: str) -> str:
    return f"{number} {unit.removesuffix('s') if number == 1 else unit}"


def group_causes(pods: Iterable[PendingPod]) -> list[Cause]:
    """Group the pods, most pods first, then the longest wait."""
    groups: dict[str, list[PendingPod]] = {}
    for pod in pods:
        groups.setdefault(f"{cause_of(pod)}|{ask_text(pod.asks)}", []).append(pod)
    causes = [_cause(key, members) for key, members in groups.items()]
    return sorted(causes, key=lambda cause: (-cause.pods, cause.since_ms, cause.key))


def _cause(key: str, pods: list[PendingPod]) -> Cause:
    first = min(pods, key=lambda pod: (pod.since_ms, pod.uid))
    return Cause(
        key=key,
        cause=cause_of(first),
        ask=ask_text(first.asks),
        pods=len(pods),
        namespaces=tuple(sorted({pod.namespace for pod in pods})),
        since_ms=first.since_ms,
        first=first,
    )
