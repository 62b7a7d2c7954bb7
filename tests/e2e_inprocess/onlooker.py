"""Somebody who watches the embedded cluster and remembers every version of its objects."""

from typing import Self

from simcluster.api import Api
from simcluster.controller import Controller
from simcluster.store import Entry
from tests.e2e_inprocess.product import Json

ALLOCATED = "hami.io/vgpu-devices-allocated"


class Onlooker(Controller):
    """Watches one resource. ``versions`` are the objects as they were, in order; None is a deletion."""

    name = "onlooker"

    def __init__(self, api: Api, resource: str) -> None:
        super().__init__(api)
        self.watches = (resource,)
        self.versions: list[tuple[str, Json | None]] = []

    def changed(self, resource: str, entry: Entry) -> None:
        name = str(entry.final.body["metadata"]["name"])
        self.versions.append((name, None if entry.new is None else entry.new.body))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.join()

    def annotations(self, name: str) -> list[dict[str, str]]:
        """Return the annotations of each version of one object, in order."""
        return [
            dict(body["metadata"].get("annotations") or {})
            for found, body in list(self.versions)
            if found == name and body is not None
        ]

    def holders(self) -> list[dict[str, list[str]]]:
        """Return who held which card after each change of a pod: card id → names of pods that exist."""
        cards: dict[str, set[str]] = {}
        moments = []
        for name, body in list(self.versions):
            ended = body is None or body["status"].get("phase") in ("Succeeded", "Failed")
            cards[name] = set() if ended or body is None else _cards(body)
            held: dict[str, list[str]] = {}
            for pod, ids in cards.items():
                for id in ids:
                    held.setdefault(id, []).append(pod)
            moments.append(held)
        return moments


def _cards(pod: Json) -> set[str]:
    return set(ids_in((pod["metadata"].get("annotations") or {}).get(ALLOCATED, "")))


def ids_in(allocated: str) -> list[str]:
    """Return the ids of the cards in the text of a pod's annotation (P-7)."""
    entries = allocated.replace(";", ":").split(":")
    return [entry.partition(",")[0] for entry in entries if "," in entry]
