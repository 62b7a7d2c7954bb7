"""A reflector that runs in a thread of a test, its waits recorded and not waited for."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from scheduler_app.core.types import Node
from scheduler_app.kube.client import KubeClient
from scheduler_app.kube.reflector import Reflector, Timing
from scheduler_app.kube.resources import NODES, Resource
from scheduler_app.kube.store import NodeStore
from tests.waiting import wait_until

SEEDED = random.Random(1)  # noqa: S311  (back-off, not secrets)


@dataclass
class Followed:
    """A handler that remembers: ``told`` has ``"added n1"``, ``"updated n1"`` and so on."""

    store: NodeStore
    listings: int = 0
    told: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    reflector: Reflector[Node] | None = None

    def listing(self) -> None:
        self.listings += 1

    def added(self, new: Node) -> None:
        self._note("added", new)

    def updated(self, old: Node, new: Node) -> None:
        self._note("updated", new)

    def deleted(self, last: Node) -> None:
        self._note("deleted", last)

    def replaced(self) -> None:
        self.told.append("replaced")

    def wait_for(self, *told: str) -> None:
        wait_until(lambda: self.told == list(told))

    def _note(self, what: str, node: Node) -> None:
        self.told.append(f"{what} {node.name}")
        self.versions.append(node.resource_version)


@contextmanager
def following(
    client: KubeClient, *, resource: Resource[Node] = NODES, handler: Any = None, **timing: Any
) -> Iterator[Followed]:
    """Run a reflector of nodes until the block ends, which also shows that it can be stopped."""
    followed, stop = Followed(NodeStore()), threading.Event()

    def pause(stopped: threading.Event, seconds: float) -> None:
        followed.pauses.append(seconds)
        stopped.wait(0.001)

    reflector = Reflector(
        client=client,
        resource=resource,
        store=followed.store,
        handler=handler or followed,
        timing=Timing(**{"pause": pause, "rng": SEEDED, **timing}),
        on_malformed=lambda key, problem: followed.malformed.append(key),
    )
    followed.reflector = reflector
    thread = threading.Thread(target=reflector.run, args=(stop,), name="reflector-under-test")
    thread.start()
    try:
        yield followed
    finally:
        stop.set()
        reflector.interrupt()
        thread.join(5)
    assert not thread.is_alive()
