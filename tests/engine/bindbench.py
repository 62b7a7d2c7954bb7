"""A binder over fakes, and binds in threads of their own: what tests of ``/bind`` start from."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from scheduler_app.core.backend import DeviceBackend, NodeLock, ResourceNames
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import BindOutcome
from scheduler_app.core.types import Container, NodeName, Pod, VendorKey
from scheduler_app.engine.binding import Binder, BindPorts
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.turns import NodeTurns
from tests.core.plain import PlainBackend
from tests.engine.world import ASSIGNED, pod_of
from tests.factories import make_container, make_node
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeLocks, FakeNodes, FakePods, FakePodWriter
from tests.fakes.told import FakeEvents, FakeLog
from tests.waiting import wait_until

N1 = NodeName("n1")
NO_WAIT = SchedulerConfig(bind_wait_seconds=0)
LOCKED = "node n1 has been locked within 5m0s: node lock contention"


def vendor(letter: str, lock: str = "") -> DeviceBackend:
    """Return a vendor of its own count resource, with a lock unless ``lock`` is "-"."""

    class Vendor(PlainBackend):
        vendor_key = VendorKey(f"V{letter}")
        names = ResourceNames(f"{letter}.io/gpu")
        node_lock = None if lock == "-" else NodeLock(lock or f"{letter}.io/lock")

        def request(self, container: Container) -> object:  # type: ignore[override]  # a CardRequest all the same
            limits = {"plain.io/gpu": container.limits.get(self.names.count, "0")}
            return super().request(replace(container, limits=limits))

    return Vendor()


def backends(*made: DeviceBackend) -> Mapping[VendorKey, DeviceBackend]:
    return {backend.vendor_key: backend for backend in made}


ONE = backends(vendor("a"))
POD = pod_of(make_container("c", limits={"a.io/gpu": 1}))


@dataclass
class Bench:
    """A binder with pods and a node in its informers, and everything it did."""

    pods: FakePods = field(default_factory=lambda: FakePods([POD]))
    backends: Mapping[VendorKey, DeviceBackend] = field(default_factory=lambda: ONE)
    config: SchedulerConfig = NO_WAIT

    def __post_init__(self) -> None:
        self.nodes = FakeNodes([make_node("n1"), make_node("n2")])
        self.locks, self.writer = FakeLocks(), FakePodWriter()
        self.events, self.log, self.clock = FakeEvents(), FakeLog(), FakeClock()
        self.state, self.turns = ClusterState(self.backends), NodeTurns()
        ports = BindPorts(self.pods, self.nodes, self.locks, self.writer, self.events, self.log)
        self.binder = Binder(
            backends=self.backends,
            state=self.state,
            ports=ports,
            turns=self.turns,
            config=self.config,
            clock=self.clock,
        )

    def bind(self, name: str = "p", node: str = "n1") -> str:
        """Return the error of binding a pod."""
        return self.outcome(name, node).error

    def outcome(self, name: str = "p", node: str = "n1") -> BindOutcome:
        return self.binder.bind(namespace="default", name=name, uid=f"uid-{name}", node=NodeName(node))


def place(bench: Bench, node: str = "n1", pod: Pod = POD) -> Pod:
    """Let this replica decide, as far as its books go; return the pod as it was written."""
    decided = replace(pod, annotations={ASSIGNED: node})
    bench.state.assume(decided, before=pod, node=NodeName(node), devices={})
    bench.state.keep(decided)
    return decided


def hold(bench: Bench, lock: str = "a.io/lock", owner: str = "default/other") -> None:
    bench.locks.held[N1, lock] = owner


def unlock(bench: Bench, lock: str = "a.io/lock") -> None:
    """Let the device plugin remove the lock; the watch tells of it."""
    bench.locks.held.pop((N1, lock), None)
    bench.turns.node_changed(N1)


def patient(seconds: float = 30.0, **config: float) -> SchedulerConfig:
    return SchedulerConfig(bind_wait_seconds=seconds, **config)  # type: ignore[arg-type]  # floats only


class Bound:
    """A bind in a thread of its own."""

    def __init__(self, bench: Bench, name: str = "p", node: str = "n1") -> None:
        self.errors: list[str] = []
        self._thread = threading.Thread(target=lambda: self.errors.append(bench.bind(name, node)))
        self._thread.start()

    def error(self) -> str:
        self._thread.join(10)
        assert self.errors, "the bind never ended"
        return self.errors[0]


def waiting() -> tuple[Bench, Bound]:
    """Return a bench that placed its pod on n1, and the bind of it, which waits for another pod's lock."""
    bench = Bench(config=patient())
    place(bench)
    hold(bench)
    bound = Bound(bench)
    wait_until(lambda: len(bench.locks.calls) == 1)
    return bench, bound
