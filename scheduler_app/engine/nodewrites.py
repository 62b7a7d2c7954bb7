"""The handshake thread: annotations of nodes that wait to be written, merged by node, one PATCH each (Q-28).

Writes are throttled as ``--kube-qps`` says. They wait here, so that no registration pass ever waits for them.
"""

import logging
import threading
from collections.abc import Mapping

from scheduler_app.core.errors import HamiError
from scheduler_app.core.ports import NodeWriter
from scheduler_app.core.types import NodeName

logger = logging.getLogger(__name__)


class NodeWrites:
    def __init__(self, writer: NodeWriter) -> None:
        self._writer = writer
        self._waiting: dict[NodeName, dict[str, str | None]] = {}
        self._changed = threading.Condition()
        self._stopped = False

    def __len__(self) -> int:
        with self._changed:
            return len(self._waiting)

    def put(self, name: NodeName, annotations: Mapping[str, str | None]) -> None:
        """Queue annotations; a later value for the same key replaces one that still waits."""
        with self._changed:
            self._waiting.setdefault(name, {}).update(annotations)
            self._changed.notify()

    def keys(self, name: NodeName) -> frozenset[str]:
        """Return the keys that wait to be written to a node."""
        with self._changed:
            return frozenset(self._waiting.get(name, ()))

    def drop(self, name: NodeName) -> None:
        with self._changed:
            self._waiting.pop(name, None)

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            with self._changed:
                while not self._waiting and not self._stopped:
                    self._changed.wait()
            if not stop.is_set():
                self.write_next()

    def interrupt(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def drain(self) -> None:
        """Write everything that waits, in this thread."""
        while self.write_next():
            pass

    def write_next(self) -> bool:
        """Write the node that has waited longest; False when none waits.

        A failure is told and not repeated: the next registration pass sees what is missing and asks again.
        """
        with self._changed:
            name = next(iter(self._waiting), None)
            if name is None:
                return False
            annotations = self._waiting.pop(name)
        try:
            self._writer.patch_node(name, annotations)
        except HamiError as exc:
            logger.warning("node not annotated node=%s keys=%d error=%s", name, len(annotations), exc)
        return True
