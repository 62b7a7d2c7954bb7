"""Fakes of those who are told of what happened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scheduler_app.core.decision import AdmissionRefusal, BindOutcome, Decision
from scheduler_app.core.publication import Publication
from scheduler_app.core.types import NodeName, Pod


@dataclass
class FakeEvents:
    """``EventSink``. ``told`` are (type, reason, message), ``about`` the object's names in step with it."""

    told: list[tuple[str, str, str]] = field(default_factory=list)
    about: list[str] = field(default_factory=list)
    defer: Callable[[Callable[[], None]], object] = lambda tell: tell()
    """Who is handed what is told later: at once, unless a test keeps it."""

    def pod_event(self, pod: Pod, *, type: str, reason: str, message: str) -> None:
        self.told.append((type, reason, message))
        self.about.append(pod.key)

    def pod_events(self, pod: Pod, *, type: str, reason: str, messages: Callable[[], Sequence[str]]) -> None:
        def tell() -> None:
            for message in messages():
                self.pod_event(pod, type=type, reason=reason, message=message)

        self.defer(tell)

    def node_event(self, node: NodeName, *, type: str, reason: str, message: str) -> None:
        self.told.append((type, reason, message))
        self.about.append(node)

    @property
    def messages(self) -> list[str]:
        return [message for _, _, message in self.told]


@dataclass
class FakeLog:
    """``DecisionLog``."""

    decisions: list[Decision] = field(default_factory=list)
    binds: list[BindOutcome] = field(default_factory=list)
    refusals: list[AdmissionRefusal] = field(default_factory=list)

    def record(self, decision: Decision) -> None:
        self.decisions.append(decision)

    def record_bind(self, outcome: BindOutcome) -> None:
        self.binds.append(outcome)

    def record_refusal(self, refusal: AdmissionRefusal) -> None:
        self.refusals.append(refusal)


@dataclass
class FakeLive:
    """``LivePublisher``."""

    published: list[Publication] = field(default_factory=list)

    def publish(self, publication: Publication) -> None:
        self.published.append(publication)
