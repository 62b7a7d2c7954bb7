"""What is wrong, ranked (console.md 6.1). Each problem is a key with arguments: words come from ``wording``.

Limits are the defaults of the specification. A command is offered as text to copy; nothing here runs one.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from dashboard.picture.causes import PLACED, group_causes
from dashboard.picture.model import Picture
from scheduler_app.core import annotations
from scheduler_app.core.publication import NodeView, QuotaView

Severity = Literal["bad", "warn", "note"]
MINUTE_MS: Final = 60_000
SOURCE_LATE_MS: Final = 150_000  # bookmarks come about once a minute
LOCK_TIMEOUT_MS: Final = 5 * MINUTE_MS
WAIT_LIMIT_MS: Final = 10 * MINUTE_MS
START_LIMIT_MS: Final = 5 * MINUTE_MS
QUOTA_PERCENT: Final = 90
_RANK: Final = {"bad": 0, "warn": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Problem:
    """``key`` names the rule, ``names`` what it is about; ``since_ms`` 0 is unknown; ``pods`` suffer."""

    key: str
    severity: Severity
    count: int = 1
    names: tuple[str, ...] = ()
    since_ms: int = 0
    pods: int = 0
    href: str = ""
    command: str = ""
    args: tuple[tuple[str, str], ...] = field(default=())


def problems(picture: Picture, now_ms: int) -> list[Problem]:
    """Return the problems, the worst first, then by pods affected."""
    found = [problem for rule in _RULES for problem in rule(picture, now_ms)]
    return sorted(found, key=lambda p: (_RANK[p.severity], -p.pods, p.since_ms or now_ms, p.key))


def _leader(picture: Picture, now_ms: int) -> Iterator[Problem]:
    leader = picture.leader
    if not leader.is_elected:
        return
    limit_ms = max(leader.duration_seconds, 1) * 1000
    if not leader.holder or now_ms - leader.seen_ms > limit_ms:
        command = "kubectl get lease --all-namespaces | grep hami"
        waiting = len(picture.pending)
        yield Problem(
            "no_leader", "bad", since_ms=leader.seen_ms, pods=waiting, href="/scheduler", command=command
        )


def _sync(picture: Picture, now_ms: int) -> Iterator[Problem]:
    for source in picture.sources:
        age_ms = now_ms - source.seen_ms
        if not source.is_synced:
            yield Problem("not_synced", "bad", names=(source.name,), href="/scheduler")
        elif source.seen_ms and age_ms > SOURCE_LATE_MS:
            yield Problem(
                "source_late", "bad", names=(source.name,), since_ms=source.seen_ms, href="/scheduler"
            )


def _node_states(picture: Picture, now_ms: int) -> Iterator[Problem]:
    by_state: dict[str, list[NodeView]] = {}
    for node in picture.nodes.values():
        if node.state != "ok":
            by_state.setdefault(node.state, []).append(node)
    yield from _nodes(by_state.get("silent", []), "silent", "bad", "node_silent")
    yield from _nodes(by_state.get("gone", []), "gone", "bad", "node_gone")
    yield from _nodes(by_state.get("unregistered", []), "unregistered", "warn", "node_unregistered")


def _nodes(nodes: list[NodeView], state: str, severity: Severity, key: str) -> Iterator[Problem]:
    if nodes:
        names = tuple(sorted(node.name for node in nodes))
        seen = [node.registered_ms for node in nodes if node.registered_ms]
        command = (
            "kubectl -n kube-system delete pod -l app.kubernetes.io/component=hami-device-plugin"
            f" --field-selector spec.nodeName={shlex.quote(names[0])}"
        )
        yield Problem(
            key,
            severity,
            len(nodes),
            names,
            min(seen, default=0),
            _pods_on(nodes),
            f"/nodes?state={state}",
            command,
        )


def _unhealthy(picture: Picture, now_ms: int) -> Iterator[Problem]:
    sick = [digest for digest in picture.digests.values() if digest.unhealthy]
    if not sick:
        return
    cards = tuple(card for digest in sick for card in digest.unhealthy)
    nodes = [picture.nodes[digest.name] for digest in sick]
    pods = {p.uid for node in nodes for card in node.cards if not card.healthy for p in card.pods}
    value = shlex.quote(",".join(sick[0].unhealthy))
    command = f"kubectl annotate node {shlex.quote(sick[0].name)} {annotations.DEVICE_CORDON}={value}"
    names = tuple(sorted(node.name for node in nodes))
    yield Problem("gpu_unhealthy", "bad", len(cards), names, 0, len(pods), "/nodes?state=unhealthy", command)


def _locks(picture: Picture, now_ms: int) -> Iterator[Problem]:
    for node in picture.nodes.values():
        if not node.lock:
            continue
        lock = read_lock(node.lock)
        if lock and lock.since_ms and now_ms - lock.since_ms > LOCK_TIMEOUT_MS:
            yield Problem(
                "lock_held",
                "warn",
                names=(node.name,),
                since_ms=lock.since_ms,
                pods=1,
                href=f"/nodes/{node.name}",
                command=f"kubectl annotate node {shlex.quote(node.name)} {annotations.NODE_LOCK}-",
                args=(("holder", lock.holder),),
            )


def _waits(picture: Picture, now_ms: int) -> Iterator[Problem]:
    waiting = [p for p in picture.pending.values() if not p.placed_on and now_ms - p.since_ms > WAIT_LIMIT_MS]
    for cause in group_causes(waiting):
        args = (("cause", cause.cause), ("ask", cause.ask))
        href = f"/pending?cause={cause.cause}"
        yield Problem("pods_wait", "warn", cause.pods, (), cause.since_ms, cause.pods, href, args=args)


def _stuck(picture: Picture, now_ms: int) -> Iterator[Problem]:
    stuck = [p for p in picture.pending.values() if p.placed_on and now_ms - p.last_try_ms > START_LIMIT_MS]
    if stuck:
        first = min(stuck, key=lambda pod: pod.last_try_ms)
        names = tuple(sorted(f"{pod.namespace}/{pod.name}" for pod in stuck))
        command = f"kubectl -n {shlex.quote(first.namespace)} describe pod {shlex.quote(first.name)}"
        href = f"/pending?cause={PLACED}"
        yield Problem("not_started", "warn", len(stuck), names, first.last_try_ms, len(stuck), href, command)


def _drift(picture: Picture, now_ms: int) -> Iterator[Problem]:
    drifted = [digest for digest in picture.digests.values() if digest.drifted]
    if drifted:
        names = tuple(sorted(digest.name for digest in drifted))
        count = sum(len(digest.drifted) for digest in drifted)
        yield Problem("drift", "warn", count, names, href=f"/nodes/{names[0]}")


def _orphans(picture: Picture, now_ms: int) -> Iterator[Problem]:
    nodes = [node for node in picture.nodes.values() if node.orphans]
    if nodes:
        names = tuple(sorted(node.name for node in nodes))
        pods = len({orphan.pod.uid for node in nodes for orphan in node.orphans})
        yield Problem("orphan", "warn", pods, names, pods=pods, href=f"/nodes/{names[0]}")


def _quotas(picture: Picture, now_ms: int) -> Iterator[Problem]:
    for quota in picture.quotas:
        if is_tight(quota):
            args = (("resource", quota.resource), ("used", str(quota.used)), ("limit", str(quota.limit)))
            source = shlex.quote(quota.source) if quota.source else ""
            command = f"kubectl -n {shlex.quote(quota.namespace)} edit resourcequota {source}".strip()
            href = f"/quotas?namespace={quota.namespace}"
            yield Problem(
                "quota_full", "note", names=(quota.namespace,), href=href, command=command, args=args
            )


def is_tight(quota: QuotaView) -> bool:
    """Say whether a quota that holds is used to ``QUOTA_PERCENT`` or more."""
    return bool(quota.limit) and quota.is_enforced and quota.used * 100 >= (quota.limit or 0) * QUOTA_PERCENT


_RULES: Final[tuple[Callable[[Picture, int], Iterator[Problem]], ...]] = (
    _leader, _sync, _node_states, _unhealthy, _locks, _waits, _stuck, _drift, _orphans, _quotas,
)  # fmt: skip


def _pods_on(nodes: Iterable[NodeView]) -> int:
    return len({pod.uid for node in nodes for card in node.cards for pod in card.pods})


@dataclass(frozen=True, slots=True)
class Lock:
    """A node lock as people read it: since when (0 unknown) and by whom."""

    since_ms: int
    holder: str


def read_lock(text: str) -> Lock | None:
    """Return the lock that ``"<RFC 3339>,<namespace>,<pod>"`` says.

    A text of another shape has no time (B-9).
    """
    if not text:
        return None
    at, *holder = text.split(",")
    try:
        since_ms = int(datetime.fromisoformat(at).timestamp() * 1000)
    except ValueError:
        return Lock(0, text)
    return Lock(since_ms, "/".join(holder) or "")
