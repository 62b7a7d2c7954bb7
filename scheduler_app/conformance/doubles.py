"""Fakes for time and for what only listens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from scheduler_app.core.decision import AdmissionRefusal, BindOutcome, Decision
from scheduler_app.core.types import NodeName, Pod
from scheduler_app.engine.turns import NodeTurns


@dataclass(slots=True)
class Clock:
    """Time that moves only when told; epoch seconds. ``readings`` are all values it has had."""

    epoch: float
    readings: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.readings.append(self.epoch)

    def time(self) -> float:
        return self.epoch

    def monotonic(self) -> float:
        return self.epoch

    def zoned(self) -> datetime:
        """Return the time with its zone; the recording ran in UTC."""
        return datetime.fromtimestamp(self.epoch, UTC)

    def local(self) -> datetime:
        return self.zoned().replace(tzinfo=None)

    def advance(self, seconds: float) -> None:
        self.epoch += max(seconds, 0.0)
        self.readings.append(self.epoch)


class PatientTurns(NodeTurns):
    """Turns for which waiting takes no time: nobody else acts meanwhile, so the clock jumps to the end."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(monotonic=clock.monotonic)
        self._clock = clock

    def _wait(self, deadline: float) -> bool:
        self._clock.advance(deadline - self._clock.monotonic())
        return False


@dataclass(frozen=True, slots=True)
class Event:
    """One event as told; ``about`` is ``("Pod", namespace, name)`` or ``("Node", "", name)``."""

    type: str
    reason: str
    message: str
    about: tuple[str, str, str]


@dataclass(slots=True)
class Events:
    """``EventSink`` that remembers and writes nothing."""

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
