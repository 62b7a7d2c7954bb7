"""The event thread: Kubernetes Events from a bounded queue (F-35)."""

import threading

from scheduler_app.core.types import NodeName, Pod
from scheduler_app.kube.client import KubeClient


class EventThread:
    """Implements ``core.ports.EventSink``."""

    def __init__(self, client: KubeClient, *, source: str) -> None:
        self._client = client
        self._source = source

    def pod_event(self, pod: Pod, *, type: str, reason: str, message: str) -> None:
        """Queue an Event about a pod."""

    def node_event(self, node: NodeName, *, type: str, reason: str, message: str) -> None:
        """Queue an Event about a node."""

    def run(self, stop: threading.Event) -> None:
        stop.wait()

    def interrupt(self) -> None:
        """It waits on the stop event itself."""
