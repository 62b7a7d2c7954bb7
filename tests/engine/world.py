"""A cluster in memory for tests of the engine: one vendor without peculiarities, nodes of small cards.

Pods are written as the wire has them: annotations say what a pod holds, as after a decision.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scheduler_app.core.backend import DeviceBackend, NodeLock
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import Decision, Explain
from scheduler_app.core.types import Container, Node, NodeName, Pod, VendorKey
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.registration import cards_of
from scheduler_app.engine.reporting import Reporter
from scheduler_app.engine.scheduler import Scheduler
from tests.core.plain import CORES, COUNT, MEM, MODEL, PLAIN, PlainBackend
from tests.factories import make_container, make_node, make_pod
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakePodWriter
from tests.fakes.told import FakeEvents, FakeLog

VENDOR = PLAIN.vendor_key
REGISTER, ALLOCATED, TO_ALLOCATE = PLAIN.keys.register, PLAIN.keys.allocated, PLAIN.keys.to_allocate
ASSIGNED = "hami.io/vgpu-node"
PLAIN_ONLY: Mapping[VendorKey, DeviceBackend] = {VENDOR: PLAIN}


class LockingBackend(PlainBackend):
    """The same vendor with a node lock."""

    node_lock = NodeLock("plain.io/lock")


def registered(name: str, *cards: str, mem_mib: int = 1000, healthy: bool = True, **node: object) -> Node:
    """Return a node that advertises cards of 10 shares and 100 cores."""
    text = json.dumps(
        [
            {
                "id": id,
                "count": 10,
                "devmem": mem_mib,
                "devcore": 100,
                "type": MODEL,
                "health": healthy,
                "index": n,
            }
            for n, id in enumerate(cards)
        ]
    )
    return make_node(name, annotations={REGISTER: text}, allocatable={COUNT: str(10 * len(cards))}, **node)


def asking(cards: int = 1, mem_mib: int = 100, cores: int = 10, *, name: str = "main") -> Container:
    return make_container(name, limits={COUNT: cards, MEM: mem_mib, CORES: cores})


def pod_of(*containers: Container, name: str = "p", **pod: Any) -> Pod:
    return make_pod(name=name, containers=containers or (asking(),), **pod)


def holding(pod: Pod, node: str, text: str) -> Pod:
    """Return the pod as it looks after a decision: on ``node``, with a device text (P-8)."""
    written = {ASSIGNED: node, ALLOCATED: text, TO_ALLOCATE: text}
    return replace(pod, annotations={**pod.annotations, **written})


class World:
    """A state with nodes, and a scheduler whose every write and word is remembered."""

    def __init__(
        self,
        *nodes: Node,
        backends: Mapping[VendorKey, DeviceBackend] = PLAIN_ONLY,
        explain: Explain | None = None,
        **config: object,
    ) -> None:
        self.backends = backends
        self.state = ClusterState(backends)
        self.writer, self.events, self.log, self.clock = FakePodWriter(), FakeEvents(), FakeLog(), FakeClock()
        self.config = SchedulerConfig(**config)  # type: ignore[arg-type]  # test data
        self.scheduler = Scheduler(
            backends=backends,
            state=self.state,
            writer=self.writer,
            reporter=Reporter(events=self.events, log=self.log, explain=explain),
            config=self.config,
            clock=self.clock,
        )
        self.names = [node.name for node in nodes]
        for node in nodes:
            self.register(node)

    def register(self, node: Node) -> None:
        self.state.merge_node(node, cards_of(node, self.backends))

    def filter(self, pod: Pod, names: Sequence[str] | None = None) -> Decision:
        asked = self.names if names is None else [NodeName(name) for name in names]
        return self.scheduler.filter(pod, names=asked)

    def used(self, node: str = "n1") -> list[tuple[int, int, int]]:
        """Return shares, MiB and cores in use of each card of a node."""
        usage = self.state.everything()[NodeName(node)]
        return [(card.shares_used, card.mem_used_mib, card.cores_used) for card in usage.cards]

    def quota_used(self, namespace: str = "default", resource: str = MEM) -> int:
        entry = self.state.quota(namespace).entries.get(resource)
        return entry.used if entry else 0

    def is_idle(self) -> bool:
        """Say whether nothing is counted anywhere."""
        everything = self.state.everything().values()
        return (
            not self.state.pods()
            and all(card.shares_used == card.mem_used_mib == 0 for node in everything for card in node.cards)
            and all(e.used == 0 for q in self.state.quotas().values() for e in q.entries.values())
        )

    def is_untold(self) -> bool:
        """Say whether nothing was written and nobody was told."""
        return not (self.writer.patches or self.events.told or self.log.decisions)

    def as_written(self, pod: Pod) -> Pod:
        """Return the pod with every patch it got so far, as the API server would have it."""
        merged: dict[str, str | None] = dict(pod.annotations)
        for patch in self.writer.patches:
            if patch.pod == pod.name:
                merged.update(patch.annotations)
        return replace(pod, annotations={key: text for key, text in merged.items() if text is not None})
