"""Where the console explains why a pod waits, told by an Event: one for each pod and cause."""

import threading
from collections import OrderedDict
from urllib.parse import quote

from scheduler_app.core.ports import EventSink
from scheduler_app.core.types import Pod, PodUid
from scheduler_app.engine import notices

REASON = "WhyPending"
TEXT = "why this pod waits, and what would help"
REMEMBERED = 4096  # pods; of one that was forgotten the same is told once more


class ConsoleLinks:
    """Called by request threads. ``url`` is the console's (``CONSOLE_URL``).

    Without it nothing is told, since Events are compared with the reference's.
    """

    def __init__(self, *, url: str, events: EventSink) -> None:
        self._url = url.rstrip("/")
        self._events = events
        self._lock = threading.Lock()
        self._told: OrderedDict[PodUid, set[str]] = OrderedDict()

    def tell(self, pod: Pod, cause: str) -> None:
        """Tell the link of a pod whose last try ended with ``cause``, empty for one that need not wait."""
        if self._url and cause and self._is_new(pod.uid, cause):
            where = f"{self._url}/pods/{quote(pod.namespace, safe='')}/{quote(pod.name, safe='')}"
            text = f"{cause}: {TEXT}: {where}"
            self._events.pod_event(pod, type=notices.NORMAL, reason=REASON, message=text)

    def _is_new(self, uid: PodUid, cause: str) -> bool:
        with self._lock:
            told = self._told.setdefault(uid, set())
            self._told.move_to_end(uid)
            if len(self._told) > REMEMBERED:
                self._told.popitem(last=False)
            is_new = cause not in told
            told.add(cause)
            return is_new
