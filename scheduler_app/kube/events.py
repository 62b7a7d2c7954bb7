"""Writing core/v1 Events: POST for a new one, PATCH of its count for a repeat (F-35).

Where the service account may not patch events, a repeat is created afresh (Q-35). Times are UTC with seconds.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from scheduler_app.kube import paths
from scheduler_app.kube.client import KubeClient
from scheduler_app.kube.correlation import COMBINED_PREFIX, Correlator, Note, Recent
from scheduler_app.kube.errors import ConflictError, ForbiddenError, NotFoundError
from scheduler_app.kube.patch import send_merge_patch

DEFAULT_NAMESPACE = "default"
MESSAGE_LIMIT = 32 * 1024  # a list of thousands of nodes must not make an object that etcd refuses
NAME_LIMIT = 253
ASK_AGAIN_SECONDS = 600.0


@dataclass(slots=True)
class Known:
    """An Event as it stands in the API server; ``name`` is empty until it does."""

    name: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A write that is decided on but not sent: sending it again after a lost answer does no harm."""

    note: Note
    message: str
    known: Known
    name: str
    now: str


class EventWriter:
    """Not locked: one thread writes Events. ``source`` is the reporting component (``--scheduler-name``)."""

    def __init__(
        self,
        client: KubeClient,
        *,
        source: str,
        epoch: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._source = source
        self._epoch = epoch
        self._clock = clock
        self._correlator = Correlator(clock=clock)
        self._known: Recent[Note, Known] = Recent()
        self._patch_again_at = float("-inf")
        self._last_ns = 0

    def prepare(self, note: Note) -> Prepared | None:
        """Decide how a note is written; None: its object has had too many."""
        counted = self._correlator.combined(note)
        message = note.message if counted == note else COMBINED_PREFIX + note.message
        known = self._known.get(counted, Known)
        known.count += 1  # also when the flood is cut: the next write tells how many there were
        if not self._correlator.allows(note):
            return None
        return Prepared(note, _cut(message), known, self._new_name(note), self._now())

    def send(self, prepared: Prepared) -> None:
        """Write it.

        Raises:
            ApiError: it was not written; ``retryable`` says whether to try again.
        """
        if not (prepared.known.name and self._patch(prepared)):
            self._create(prepared)

    def _patch(self, prepared: Prepared) -> bool:
        """Raise the count of the Event that is there; False: it is not, or may not be patched."""
        if self._clock() < self._patch_again_at:
            return False
        path = paths.event(_namespace(prepared.note), prepared.known.name)
        body = {
            "count": prepared.known.count,
            "lastTimestamp": prepared.now,
            "message": prepared.message,
        }
        try:
            send_merge_patch(self._client, path, body)
        except NotFoundError:  # its hour is over
            return False
        except ForbiddenError:
            self._patch_again_at = self._clock() + ASK_AGAIN_SECONDS
            return False
        return True

    def _create(self, prepared: Prepared) -> None:
        count = 1 if prepared.known.name else prepared.known.count
        body = orjson.dumps(self._event(prepared, count))
        with suppress(ConflictError):  # our own, whose answer was lost: nobody else makes this name
            self._client.send("POST", path=paths.events(_namespace(prepared.note)), body=body)
        prepared.known.name, prepared.known.count = prepared.name, count

    def _event(self, prepared: Prepared, count: int) -> dict[str, object]:
        note, about = prepared.note, prepared.note.about
        involved = {"apiVersion": "v1", "kind": about.kind, "name": about.name, "uid": about.uid}
        if about.namespace:
            involved["namespace"] = about.namespace
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": prepared.name, "namespace": _namespace(note)},
            "involvedObject": involved,
            "type": note.type,
            "reason": note.reason,
            "message": prepared.message,
            "source": {"component": self._source},
            "reportingComponent": self._source,
            "reportingInstance": "",
            "firstTimestamp": prepared.now,
            "lastTimestamp": prepared.now,
            "count": count,
        }

    def _new_name(self, note: Note) -> str:
        """Return ``"<object>.<nanoseconds in hex>"``, never the same twice."""
        self._last_ns = max(int(self._epoch() * 1_000_000_000), self._last_ns + 1)
        suffix = f".{self._last_ns:x}"
        return note.about.name[: NAME_LIMIT - len(suffix)] + suffix

    def _now(self) -> str:
        return datetime.fromtimestamp(self._epoch(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _namespace(note: Note) -> str:
    return note.about.namespace or DEFAULT_NAMESPACE


def _cut(message: str) -> str:
    return message if len(message) <= MESSAGE_LIMIT else message[: MESSAGE_LIMIT - 1] + "…"
