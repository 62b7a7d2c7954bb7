"""A product set up afresh over an in-memory API, and the watch that feeds it.

Wired as ``bootstrap`` does it, with the product's own parts; only time, the network and what merely listens
are replaced, and nothing runs by itself.
"""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from scheduler_app.bootstrap import Parts
from scheduler_app.conformance.api import Api, Key, MemoryClient
from scheduler_app.conformance.doubles import Clock, Events, Log, PatientTurns
from scheduler_app.conformance.watch import Watched
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.ports import EventSink
from scheduler_app.core.predicate import Backends
from scheduler_app.engine.admission import Admission
from scheduler_app.engine.binding import Binder, BindPorts
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.leadership import Leadership
from scheduler_app.engine.nodewrites import NodeWrites
from scheduler_app.engine.pending import PendingBoard
from scheduler_app.engine.registration import Registrar
from scheduler_app.engine.reporting import Reporter
from scheduler_app.engine.roles import RoleLabels
from scheduler_app.engine.scheduler import Scheduler
from scheduler_app.events import EventThread
from scheduler_app.exposition import Exposition
from scheduler_app.kube import decode
from scheduler_app.kube.lease import decode_lease
from scheduler_app.kube.lockboard import LockTiming
from scheduler_app.kube.nodelock import ApiNodeLocks
from scheduler_app.kube.patch import ApiNodeWriter, ApiPodWriter
from scheduler_app.kube.store import NodeStore, PodStore
from scheduler_app.kube.throttle import Throttle
from scheduler_app.watchers import LeaseWatcher, NodeWatcher, PodWatcher, QuotaWatcher

Json = dict[str, Any]
START = datetime(2026, 9, 1, 12, 0, 0, tzinfo=UTC).timestamp()


class World:
    def __init__(self, backends: Backends, config: SchedulerConfig, *, writes_events: bool = False) -> None:
        self.backends = backends
        self.config = config
        self.api = Api()
        self.clock = Clock(START)
        self.events = Events()
        self.log = Log()
        self.wakes = 0
        self._client = MemoryClient(self.api)
        self._event_thread = (
            EventThread(self._client, source=config.scheduler_name) if writes_events else None
        )
        self._node_writer = ApiNodeWriter(self._client, throttle=Throttle())
        self._pod_writer = ApiPodWriter(self._client)
        self.pods, self.nodes = PodStore(), NodeStore()
        self.state = ClusterState(backends)
        self.turns = PatientTurns(self.clock)
        self.leadership = Leadership(
            config=config, on_started=self._wake, monotonic=self.clock.monotonic, clock=self.clock.time
        )
        self.node_writes = NodeWrites(self._node_writer)
        self.roles = RoleLabels(pods=self.pods, writer=self._node_writer, config=config)
        self.locks = self._locks()
        self.scheduler = self._scheduler()
        self.registrar = self._registrar()
        self._watched = self._watches()

    def parts(self) -> Parts:
        """Return what the doors ask ``bootstrap`` for."""
        made = SimpleNamespace(
            config=self.config,
            state=self.state,
            leadership=self.leadership,
            scheduler=self.scheduler,
            binder=self._binder(),
            admission=Admission(
                backends=self.backends,
                state=self.state,
                log=self.log,
                config=self.config,
                clock=self.clock.time,
            ),
            exposition=Exposition(backends=self.backends, legacy=self.config.legacy_metrics),
        )
        return cast(Parts, made)

    # The cluster

    def put(self, item: Json) -> None:
        """Create or replace an object in the API and let the watch deliver it."""
        self.deliver(self.api.put(item))

    def deliver(self, item: Json) -> None:
        """Let the watch deliver an object as it is now; of leases it sees one."""
        if item["kind"] != "Lease" or self._is_watched(item):
            self._watched[item["kind"]].see(item)

    def resync(self, item: Json) -> None:
        self._watched[item["kind"]].resync(item)

    def remove(self, key: Key) -> Json | None:
        """Delete an object from the API and let the watch deliver that."""
        item = self.api.remove(key)
        if item is not None and (item["kind"] != "Lease" or self._is_watched(item)):
            self._watched[item["kind"]].lose(item)
        return item

    def _is_watched(self, lease: Json) -> bool:
        meta, config = lease["metadata"], self.config
        return (meta.get("namespace"), meta["name"]) == (config.lease_namespace, config.lease_name)

    def settle(self, since: int) -> None:
        """Let the watch deliver what was written since that place in the log of writes."""
        written = {(w["resource"], w.get("namespace", ""), w["name"]) for w in self.api.writes[since:]}
        for key in sorted(written):
            stored = self.api.objects.get(key)
            if stored is not None and stored["kind"] in self._watched:
                self.deliver(stored)

    # The product

    def run_pass(self) -> None:
        """Run one registration pass as the thread does, and let the watch deliver what it wrote."""
        since = len(self.api.writes)
        if not self.leadership.is_leader:
            return
        self.roles.maintain()
        self.registrar.run_pass()
        self.node_writes.drain()
        self.leadership.set_synced()
        self.settle(since)

    def write_events(self) -> None:
        """Send the queued events now, in this thread."""
        if self._event_thread is not None:
            ending = threading.Event()
            ending.set()
            self._event_thread.run(ending)

    def _wake(self) -> None:
        self.wakes += 1

    @property
    def _sink(self) -> EventSink:
        return self._event_thread or self.events

    def _locks(self) -> ApiNodeLocks:
        timing = LockTiming(now=self.clock.zoned, sleep=self.clock.advance)
        timeout = self.config.node_lock_timeout_seconds
        return ApiNodeLocks(self._client, timeout_seconds=timeout, timing=timing)

    def _scheduler(self) -> Scheduler:
        return Scheduler(
            backends=self.backends,
            state=self.state,
            writer=self._pod_writer,
            reporter=Reporter(events=self._sink, log=self.log),
            config=self.config,
            clock=self.clock.time,
        )

    def _binder(self) -> Binder:
        ports = BindPorts(
            pods=self.pods,
            nodes=self.nodes,
            locks=self.locks,
            writer=self._pod_writer,
            events=self._sink,
            log=self.log,
        )
        return Binder(
            backends=self.backends,
            state=self.state,
            ports=ports,
            turns=self.turns,
            config=self.config,
            clock=self.clock.time,
        )

    def _registrar(self) -> Registrar:
        return Registrar(
            backends=self.backends,
            state=self.state,
            nodes=self.nodes,
            writer=self._node_writer,
            writes=self.node_writes,
            events=self._sink,
            selector=self.config.node_label_selector,
            now=self.clock.local,
        )

    def _watches(self) -> Mapping[str, Watched[Any]]:
        board = PendingBoard(backends=self.backends, scheduler_name=self.config.scheduler_name)
        nodes = NodeWatcher(
            self.state, self.turns, gone=self._node_gone, changed=lambda name: None, wake=self._wake
        )
        pods = PodWatcher(self.state, board, self.turns, self._sink, is_there=lambda uid: True)
        return {
            "Node": Watched(decode.decode_node, nodes, self.nodes),
            "Pod": Watched(decode.decode_pod, pods, self.pods),
            "ResourceQuota": Watched(decode.decode_quota, QuotaWatcher(self.state)),
            "Lease": Watched(decode_lease, LeaseWatcher(self.leadership)),
        }

    def _node_gone(self, name: Any) -> None:
        self.registrar.node_gone(name)
        self.locks.forget(name)
