"""A product set up afresh over an in-memory API, and the watch that feeds it, one notification at a time."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from scheduler_app.conformance.api import Api, Key, MemoryClient
from scheduler_app.conformance.doubles import Clock, Events, Log, Nodes, Pods
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.errors import CodecError
from scheduler_app.core.predicate import Backends
from scheduler_app.core.types import Pod
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.nodewrites import NodeWrites
from scheduler_app.engine.registration import Registrar
from scheduler_app.engine.scheduler import Scheduler
from scheduler_app.kube import decode
from scheduler_app.kube.patch import ApiNodeWriter, ApiPodWriter
from scheduler_app.kube.throttle import Throttle

Json = dict[str, Any]
START = datetime(2026, 9, 1, 12, 0, 0, tzinfo=UTC).timestamp()


@dataclass(slots=True)
class World:
    backends: Backends
    config: SchedulerConfig
    api: Api = field(default_factory=Api)
    clock: Clock = field(default_factory=lambda: Clock(START))
    nodes: Nodes = field(default_factory=Nodes)
    pods: Pods = field(default_factory=Pods)
    events: Events = field(default_factory=Events)
    log: Log = field(default_factory=Log)
    state: ClusterState = field(init=False)
    scheduler: Scheduler = field(init=False)
    registrar: Registrar = field(init=False)
    node_writes: NodeWrites = field(init=False)

    def __post_init__(self) -> None:
        client = MemoryClient(self.api)
        node_writer = ApiNodeWriter(client, throttle=Throttle())
        self.node_writes = NodeWrites(node_writer)
        self.state = ClusterState(self.backends)
        self.scheduler = Scheduler(
            backends=self.backends,
            state=self.state,
            writer=ApiPodWriter(client),
            events=self.events,
            log=self.log,
            config=self.config,
            clock=self.clock.time,
        )
        self.registrar = Registrar(
            backends=self.backends,
            state=self.state,
            nodes=self.nodes,
            writer=node_writer,
            writes=self.node_writes,
            events=self.events,
            selector=self.config.node_label_selector,
            now=self.now,
        )

    def now(self) -> datetime:
        """Return the clock's time without zone; the recording ran in UTC."""
        return datetime.fromtimestamp(self.clock.time(), UTC).replace(tzinfo=None)

    def put(self, item: Json) -> None:
        """Create or replace an object in the API and let the watch deliver it."""
        self.deliver(self.api.put(item))

    def deliver(self, item: Json) -> None:
        """Let the watch deliver an object as it is now."""
        match item["kind"]:
            case "Node":
                node = decode.decode_node(item)
                self.nodes.seen[node.name] = node
                self.state.refresh_node(node)
            case "Pod":
                pod = decode.decode_pod(item)
                self.pods.seen[pod.namespace, pod.name] = pod
                self._see(pod)
            case "ResourceQuota":
                self.state.see_quota(decode.decode_quota(item))

    def remove(self, key: Key) -> Json | None:
        """Delete an object from the API and let the watch deliver that."""
        item = self.api.remove(key)
        if item is None:
            return None
        match item["kind"]:
            case "Node":
                node = decode.decode_node(item)
                self.nodes.seen.pop(node.name, None)
                self.registrar.node_gone(node.name)
            case "Pod":
                pod = decode.decode_pod(item)
                self.pods.seen.pop((pod.namespace, pod.name), None)
                self.state.lose_pod(pod.uid)
            case "ResourceQuota":
                self.state.lose_quota(decode.decode_quota(item))
        return item

    def run_pass(self) -> None:
        """Run one registration pass and let the watch deliver what it wrote."""
        start = len(self.api.writes)
        self.registrar.run_pass()
        self.node_writes.drain()
        for name in {write["name"] for write in self.api.writes[start:] if write["resource"] == "nodes"}:
            stored = self.api.objects.get(("nodes", "", name))
            if stored is not None:
                self.deliver(stored)

    def _see(self, pod: Pod) -> None:
        try:
            self.state.see_pod(pod)
        except CodecError:
            return
