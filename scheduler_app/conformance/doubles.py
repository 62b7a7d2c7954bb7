"""The ports of ``core/ports.py`` over the in-memory API. They remember what they were told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_app.conformance import decoding
from scheduler_app.conformance.api import Api
from scheduler_app.core.decision import AdmissionRefusal, BindOutcome, Decision
from scheduler_app.core.types import Node, NodeName, Pod

Texts = Mapping[str, str | None]


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
class Writer:
    """``PodWriter`` and ``NodeWriter``."""

    api: Api

    def patch_pod(self, pod: Pod, *, annotations: Texts, labels: Texts | None = None) -> None:
        meta: dict[str, object] = {"annotations": dict(annotations)}
        if labels:
            meta["labels"] = dict(labels)
        self.api.patch(("pods", pod.namespace, pod.name), {"metadata": meta})

    def bind(self, *, namespace: str, name: str, uid: str, node: NodeName) -> None:
        body = {"metadata": {"name": name, "uid": uid}, "target": {"kind": "Node", "name": node}}
        self.api.bind(("pods", namespace, name), body)

    def get_node(self, name: NodeName) -> Node:
        return decoding.node(self.api.get(("nodes", "", name)))

    def patch_node(self, name: NodeName, annotations: Texts) -> None:
        self.api.patch(("nodes", "", name), {"metadata": {"annotations": dict(annotations)}})

    def label_pod(self, *, namespace: str, name: str, labels: Texts) -> None:
        self.api.patch(("pods", namespace, name), {"metadata": {"labels": dict(labels)}})


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
