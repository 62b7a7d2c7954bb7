"""Node locks against a scripted API server, with a clock that stands still."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from scheduler_app.core.annotations import NODE_LOCK
from scheduler_app.core.backend import NodeLock
from scheduler_app.core.types import Node, NodeName, Pod
from scheduler_app.kube.lockboard import LockTiming
from scheduler_app.kube.nodelock import ApiNodeLocks
from tests.factories import make_node, make_pod
from tests.kube.scripted_server import Request, ScriptedServer
from tests.kube.tiny_api import TinyApi

NOW = datetime(2026, 1, 2, 15, 4, 5, tzinfo=UTC)
SHARED = NodeLock(NODE_LOCK)
OWN = "vendor.example/own.lock"
TIMED = NodeLock(OWN, has_owner=False, timeout_seconds=120)
N1 = NodeName("n1")
RETRY = "retry strategy={Duration:100ms Factor:2 Jitter:0.5 Steps:5 Cap:0s}"


@dataclass
class Locker:
    locks: ApiNodeLocks
    api: TinyApi
    sleeps: list[float]
    reports: list[str]

    def take(self, pod: Pod, lock: NodeLock = SHARED, *, node: Node | None = None) -> bool:
        return self.locks.acquire(lock, node=node or make_node("n1"), pod=pod)

    def give_back(self, pod: Pod, lock: NodeLock = SHARED) -> None:
        self.locks.release(lock, node=N1, pod=pod)


def make_locker(server: ScriptedServer, api: TinyApi) -> Locker:
    sleeps, reports = list[float](), list[str]()
    locks = ApiNodeLocks(
        server.client(),
        timeout_seconds=300,
        report=lambda node, problem: reports.append(f"{node}: {problem}"),
        timing=LockTiming(now=lambda: NOW, sleep=sleeps.append, rng=random.Random(1)),  # noqa: S311
    )
    return Locker(locks, api, sleeps, reports)


def ago(**age: float) -> str:
    return (NOW - timedelta(**age)).isoformat().replace("+00:00", "Z")


def patch(value: str | None, *, version: str, key: str = NODE_LOCK) -> object:
    return {"metadata": {"annotations": {key: value}, "resourceVersion": version}}


P1 = make_pod(name="p1")
TAKEN = "2026-01-02T15:04:05Z,default,p1"


def on_patch(locker: Locker, act: Callable[[], None]) -> Callable[[Request], None]:
    """Return a hook that acts as somebody else just before a patch arrives."""

    def before(request: Request) -> None:
        if request.method == "PATCH":
            act()

    return before
