"""Fakes of the ports that are not about writing: a clock, what the watch has delivered, what was told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scheduler_app.core.decision import AdmissionRefusal, BindOutcome, Decision
from scheduler_app.core.types import Node, NodeName, Pod


@dataclass(slots=True)
class Clock:
    """Time that moves only when told; epoch seconds."""

    epoch: float

    def time(self) -> float:
        return self.epoch

    def monotonic(self) -> float:
        return self.epoch

    def advance(self, seconds: float) -> None:
        self.epoch += seconds


@dataclass(slots=True)
class Nodes:
    """``NodeLister`` over what the watch has delivered."""

    seen: dict[NodeName, Node] = field(default_factory=dict)

    def get(self, name: NodeName) -> Node | None:
        return self.seen.get(name)

    def list(self) -> list[Node]:
        return list(self.seen.values())


@dataclass(slots=True)
class Pods:
    """``PodLister`` over what the watch has delivered."""

    seen: dict[tuple[str, str], Pod] = field(default_factory=dict)

    def get(self, namespace: str, name: str) -> Pod | None:
        return self.seen.get((namespace, name))

    def list(self) -> list[Pod]:
        return list(self.seen.values())


@dataclass(frozen=True, slots=True)
class Event:
    """One event as told; ``about`` is ``("Pod", namespace, name)`` or ``("Node", "", name)``."""

    type: str
    reason: str
    message: str
    about: tuple[str, str, str]


@dataclass(slots=True)
class Events:
    """``EventSink``."""

    told: list[Event] = field(default_factory=list)

    def pod_event(self, pod: Pod, *, type: str, reason: str, message: str) -> None:
        self.told.append(Event(type, reason, message, ("Pod", pod.namespace, pod.name)))

    def pod_events(self, pod: Pod, *, type: str, reason: str, messages: Callable[[], Sequence[str]]) -> None:
        for message in messages():
            self.pod_event(pod, type=type, reason=reason, message=message)

    def node_event(self, node: NodeName, *, type: str, reason: str, message: str) -> None:
        self.told.append(Event(type, reason, message, ("Node", "", node)))


@dataclass(slots=True)
class Log:
    """``DecisionLog``."""

    decisions: list[Decision] = field(default_factory=list)

    def record(self, decision: Decision) -> None:
        self.decisions.append(decision)

    def record_bind(self, outcome: BindOutcome) -> None: ...

    def record_refusal(self, refusal: AdmissionRefusal) -> None: ...
