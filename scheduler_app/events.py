"""The event thread: Kubernetes Events go through a bounded queue; no decision ever waits for one (F-35)."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler_app.core.types import NodeName, Pod
from scheduler_app.kube.client import KubeClient
from scheduler_app.kube.correlation import Involved, Note
from scheduler_app.kube.errors import ApiError
from scheduler_app.kube.events import EventWriter, Prepared
from scheduler_app.kube.throttle import Throttle

logger = logging.getLogger(__name__)
CAPACITY = 1000
TRIES = 4
FIRST_RETRY_SECONDS = 1.0
DRAIN_SECONDS = 2.0


Queued = Note | Callable[[], Sequence[Note]]


@dataclass(frozen=True, slots=True)
class EventCounts:
    """``dropped`` found the queue full, ``cut`` were too many for one object, ``failed`` were refused."""

    written: int = 0
    dropped: int = 0
    cut: int = 0
    failed: int = 0


class EventThread:
    """Implements ``core.ports.EventSink``: any thread hands in events, one thread writes them.

    Writes take a token of ``throttle`` where one is given (``--kube-qps``).
    """

    def __init__(
        self,
        client: KubeClient,
        *,
        source: str,
        throttle: Throttle | None = None,
        capacity: int = CAPACITY,
        pause: Callable[[threading.Event, float], object] = threading.Event.wait,
    ) -> None:
        self._throttle = throttle
        self._writer = EventWriter(client.throttled(throttle) if throttle else client, source=source)
        self._capacity = capacity
        self._pause = pause
        self._changed = threading.Condition()
        self._queue: deque[Queued] = deque()
        self._ending = False
        self._written = self._dropped = self._cut = self._failed = 0

    @property
    def counts(self) -> EventCounts:
        return EventCounts(self._written, self._dropped, self._cut, self._failed)

    def pod_event(self, pod: Pod, *, type: str, reason: str, message: str) -> None:
        self._put(Note(Involved("Pod", pod.namespace, pod.name, pod.uid), type, reason, message))

    def pod_events(self, pod: Pod, *, type: str, reason: str, messages: Callable[[], Sequence[str]]) -> None:
        """Tell several texts of a pod, made in the event thread: listing thousands of nodes takes time."""
        about = Involved("Pod", pod.namespace, pod.name, pod.uid)
        self._put(lambda: [Note(about, type, reason, message) for message in messages()])

    def node_event(self, node: NodeName, *, type: str, reason: str, message: str) -> None:
        """Tell of a node. Its uid is its name, as kubelets have it: ``describe node`` asks for that."""
        self._put(Note(Involved("Node", "", node, node), type, reason, message))

    def run(self, stop: threading.Event) -> None:
        while (note := self._next(stop)) is not None:
            self._write(note, stop)
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._queue and time.monotonic() < deadline:
            self._write(self._queue.popleft(), stop)

    def interrupt(self) -> None:
        """End the thread soon: what is queued goes out unthrottled, for a moment."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if self._throttle is not None:
            self._throttle.close()

    def _put(self, note: Queued) -> None:
        with self._changed:
            if len(self._queue) >= self._capacity:
                self._dropped += 1
                return
            self._queue.append(note)
            self._changed.notify()

    def _next(self, stop: threading.Event) -> Queued | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._ending or stop.is_set())
            if self._ending or stop.is_set():
                return None
            return self._queue.popleft()

    def _write(self, queued: Queued, stop: threading.Event) -> None:
        for note in [queued] if isinstance(queued, Note) else queued():
            self._write_one(note, stop)

    def _write_one(self, note: Note, stop: threading.Event) -> None:
        prepared = self._writer.prepare(note)
        if prepared is None:
            self._cut += 1
            return
        try:
            self._send(prepared, stop)
            self._written += 1
        except ApiError as exc:
            self._failed += 1
            about = note.about
            logger.warning(
                "event not written reason=%s object=%s/%s error=%s",
                note.reason,
                about.namespace,
                about.name,
                exc,
            )

    def _send(self, prepared: Prepared, stop: threading.Event) -> None:
        """Send, and again while the API server may still take it and nobody wants us to stop."""
        for attempt in range(TRIES):
            try:
                return self._writer.send(prepared)
            except ApiError as exc:
                if not exc.retryable or attempt == TRIES - 1 or stop.is_set():
                    raise
                wait = FIRST_RETRY_SECONDS * 2**attempt
                self._pause(stop, max(wait, exc.retry_after_seconds))
        return None
