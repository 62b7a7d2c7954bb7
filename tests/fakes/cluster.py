"""Fakes of what the engine reads from the cluster and writes to it. Each remembers what it was told."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from scheduler_app.core.backend import NodeLock
from scheduler_app.core.errors import HamiError, LockContentionError
from scheduler_app.core.ports import Annotations
from scheduler_app.core.types import Node, NodeName, Pod


@dataclass(frozen=True, slots=True)
class PodPatch:
    pod: str
    annotations: dict[str, str | None]
    labels: dict[str, str | None] | None = None


@dataclass
class FakePodWriter:
    """``PodWriter``. ``fails`` is raised by the call of that name; ``before`` runs first.

    ``fresh`` are pods that the API server has otherwise than the caller, None where it has none.
    """

    fresh: dict[str, Pod | None] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    patches: list[PodPatch] = field(default_factory=list)
    bound: list[tuple[str, str, NodeName]] = field(default_factory=list)
    fails: dict[str, HamiError] = field(default_factory=dict)
    before: Callable[[str], None] = lambda call: None

    def get_pod(self, pod: Pod) -> Pod | None:
        self._called("get_pod")
        self.reads.append(pod.name)
        return self.fresh.get(pod.name, pod)

    def patch_pod(self, pod: Pod, *, annotations: Annotations, labels: Annotations | None = None) -> None:
        self._called("patch_pod")
        self.patches.append(PodPatch(pod.name, dict(annotations), None if labels is None else dict(labels)))

    def bind(self, *, namespace: str, name: str, uid: str, node: NodeName) -> None:
        self._called("bind")
        self.bound.append((f"{namespace}/{name}", uid, node))

    def _called(self, call: str) -> None:
        self.before(call)
        if call in self.fails:
            raise self.fails[call]


@dataclass
class FakeNodeWriter:
    """``NodeWriter``. ``unreadable`` are not given, ``unwritable`` raise; ``read`` runs when it is asked."""

    reads: list[NodeName] = field(default_factory=list)
    patches: list[tuple[NodeName, dict[str, str | None]]] = field(default_factory=list)
    labels: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    unreadable: set[str] = field(default_factory=set)
    why: str = ""
    unwritable: set[str] = field(default_factory=set)
    read: Callable[[], None] = lambda: None

    def ask_for(self, names: Collection[NodeName]) -> Mapping[NodeName, str]:
        self.reads.extend(names)
        self.read()
        return {name: self.why or f"{name} cannot be read" for name in names if name in self.unreadable}

    def patch_node(self, name: NodeName, annotations: Annotations) -> None:
        if name in self.unwritable:
            raise HamiError(f"{name} cannot be written")
        self.patches.append((name, dict(annotations)))

    def label_pod(self, *, namespace: str, name: str, labels: Annotations) -> None:
        if name in self.unwritable:
            raise HamiError(f"{name} cannot be labelled")
        self.labels.append((f"{namespace}/{name}", dict(labels)))


@dataclass
class FakeLocks:
    """``NodeLocks``: who holds which annotation of which node. ``fails`` raises by (call, annotation)."""

    held: dict[tuple[NodeName, str], str] = field(default_factory=dict)
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    fails: dict[tuple[str, str], HamiError] = field(default_factory=dict)
    tried: Callable[[], None] = lambda: None

    def acquire(self, lock: NodeLock, *, node: Node, pod: Pod) -> bool:
        self.calls.append(("acquire", lock.annotation, pod.name))
        self._fail("acquire", lock)
        is_free = (node.name, lock.annotation) not in self.held
        holder = self.held.setdefault((node.name, lock.annotation), pod.key)
        self.tried()
        if holder != pod.key:
            raise LockContentionError(f"node {node.name} has been locked within 5m0s: node lock contention")
        return is_free

    def release(self, lock: NodeLock, *, node: NodeName, pod: Pod) -> None:
        self.calls.append(("release", lock.annotation, pod.name))
        self._fail("release", lock)
        if self.held.get((node, lock.annotation)) == pod.key:
            del self.held[node, lock.annotation]

    def forget(self, node: NodeName) -> None:
        self.calls.append(("forget", "", node))

    def _fail(self, call: str, lock: NodeLock) -> None:
        if (call, lock.annotation) in self.fails:
            raise self.fails[call, lock.annotation]


class FakePods:
    """``PodLister`` over what the watch has delivered."""

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self.seen = {pod.key: pod for pod in pods}

    def get(self, namespace: str, name: str) -> Pod | None:
        return self.seen.get(f"{namespace}/{name}")

    def list(self) -> list[Pod]:
        return list(self.seen.values())


class FakeNodes:
    """``NodeLister`` over what the watch has delivered; ``change`` is a node's update."""

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        self.seen = {node.name: node for node in nodes}

    def get(self, name: NodeName) -> Node | None:
        return self.seen.get(name)

    def list(self) -> list[Node]:
        return list(self.seen.values())

    def change(self, name: str, **values: object) -> Node:
        node = self.seen[NodeName(name)] = replace(self.seen[NodeName(name)], **values)  # type: ignore[arg-type]  # test data
        return node
