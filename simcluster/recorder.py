"""Writes Events; the same one again only counts up, as client-go's recorder does."""

import contextlib
import itertools
from collections import OrderedDict
from dataclasses import dataclass

from simcluster.api import Api
from simcluster.errors import StatusError
from simcluster.objects import Json, new_uid, time_text

_REMEMBERED = 4096
_LONGEST_MESSAGE = 1024


@dataclass(frozen=True, slots=True)
class Note:
    """What is said about an object: type Normal or Warning, a reason in one word, a sentence."""

    type: str
    reason: str
    message: str


class Recorder:
    """The events of one component; used by one thread."""

    def __init__(self, api: Api, component: str, *, host: str = "") -> None:
        self._api, self._component, self._host = api, component, host
        self._known: OrderedDict[tuple[str, str, str], tuple[str, int]] = OrderedDict()
        self._numbers = itertools.count(int(new_uid()[:8], 16) << 32)

    def about(self, body: Json, note: Note) -> None:
        """Record a note about an object; nothing is raised, an event is never worth a failure."""
        with contextlib.suppress(StatusError):
            self._record(body, note)

    def _record(self, body: Json, note: Note) -> None:
        meta = body["metadata"]
        namespace = meta.get("namespace") or "default"
        known = self._known.pop((meta["uid"], note.reason, note.message), None)
        if known and self._api.exists("events", known[0]):
            key, count = known[0], known[1] + 1
            self._api.patch("events", key, {"count": count, "lastTimestamp": time_text()})
        else:
            name = f"{meta['name']}.{next(self._numbers):x}"
            key, count = f"{namespace}/{name}", 1
            self._api.create("events", self._event(body, note, name=name), namespace=namespace)
        self._known[meta["uid"], note.reason, note.message] = (key, count)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _event(self, body: Json, note: Note, *, name: str) -> Json:
        meta, stamp, message = body["metadata"], time_text(), note.message
        if len(message) > _LONGEST_MESSAGE:
            message = message[: _LONGEST_MESSAGE - 4] + " ..."
        source = {"component": self._component} | ({"host": self._host} if self._host else {})
        return {
            "metadata": {"name": name},
            "involvedObject": {
                "kind": body["kind"],
                "apiVersion": body["apiVersion"],
                "name": meta["name"],
                "uid": meta["uid"],
                "resourceVersion": meta["resourceVersion"],
            }
            | ({"namespace": meta["namespace"]} if meta.get("namespace") else {}),
            "reason": note.reason,
            "message": message,
            "type": note.type,
            "count": 1,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "source": source,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
        }
