"""A seeded generator of pods: teams that come and go and keep 60 to 75 % of each vendor's cards in use."""

import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from simcluster.api import Api
from simcluster.controller import Controller
from simcluster.errors import StatusError
from simcluster.fleet import Vendor
from simcluster.jobs import IMPOSSIBLE, JOB, Jobs, cards_held, vendor_of
from simcluster.nodes import Inventory
from simcluster.objects import Json, key_of, labels
from simcluster.store import Entry

_TEAMS = {
    "team-vision": "vision",
    "team-language": "language",
    "team-speech": "speech",
    "team-robotics": "robotics",
    "research": "research",
    "batch": "batch",
}
_QUOTAS = {
    "team-speech": {"limits.nvidia.com/gpumem": "600000", "limits.nvidia.com/gpucores": "1200", "pods": "60"},
    "team-robotics": {"limits.nvidia.com/gpumem": "900000", "requests.nvidia.com/gpu": "40"},
}
_LOW, _HIGH = 0.60, 0.75
_TICK_SECONDS = 1.0
_BURST = 6  # pods created in a tick at most
_FRESH_PENDING, _ALL_PENDING = 10, 24  # waiting pods, those of the last seconds and all, that stop new ones
_LEAST_PENDING = 2  # of those limits each vendor has its part, but not less than this
_FRESH_SECONDS = 15.0
_MOST_IMPOSSIBLE = 5
_KEEP_FINISHED_SECONDS = 15.0
_KEEP_PENDING_SECONDS = 120.0


@dataclass(slots=True)
class Known:
    """What the generator remembers of a pod: whose it is, how many cards it holds, since when (monotonic)."""

    vendor: str
    cards: float
    is_pending: bool
    is_impossible: bool
    since: float

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.since < _FRESH_SECONDS


class Workload(Controller):
    """Creates pods while fewer cards are in use than wanted, and clears away those that have ended."""

    name = "workload"
    watches = ("pods",)

    def __init__(
        self, api: Api, inventory: Inventory, *, seed: int, is_open: Callable[[], bool] = lambda: True
    ) -> None:
        """is_open: whether pods would be admitted and scheduled; teams wait until it is true once."""
        super().__init__(api)
        self._inventory = inventory
        self._is_open, self._has_opened = is_open, False
        self._random = random.Random(seed)  # noqa: S311  (a reproducible demo, no secret)
        self._known: dict[str, Known] = {}
        self._ending: set[str] = set()
        self._target = (_LOW + _HIGH) / 2
        self._jobs = Jobs(self._random, inventory)

    def began(self) -> None:
        for name, team in _TEAMS.items():
            self._ensure("namespaces", {"metadata": {"name": name, "labels": {"team": team}}})
        for name, hard in _QUOTAS.items():
            meta = {"name": "gpu", "namespace": name}
            self._ensure("resourcequotas", {"metadata": meta, "spec": {"hard": hard}})
        self.every(_TICK_SECONDS, self._tick)

    def changed(self, resource: str, entry: Entry) -> None:
        pod = entry.final.body
        uid = pod["metadata"]["uid"]
        phase = pod["status"].get("phase")
        if entry.new is None:
            self._known.pop(uid, None)
            self._ending.discard(uid)
        elif phase in {"Succeeded", "Failed"}:
            self._known.pop(uid, None)
            self._clear_later(pod, _KEEP_FINISHED_SECONDS)
        else:
            self._know(pod, uid)

    def allocated(self, vendor: Vendor) -> float:
        """Return the share of a vendor's cards that is allocated."""
        total = self._cards_of(vendor)
        held = sum(known.cards for known in self._known.values() if known.vendor == vendor.name)
        return held / total if total else 1.0

    def _know(self, pod: Json, uid: str) -> None:
        known = self._known.get(uid)
        self._known[uid] = Known(
            vendor=vendor_of(pod),
            cards=cards_held(pod, self._inventory),
            is_pending=not pod["spec"].get("nodeName"),
            is_impossible=labels(pod).get(IMPOSSIBLE) == "true",
            since=known.since if known else time.monotonic(),
        )
        if known is None and JOB in labels(pod):
            self.after(_KEEP_PENDING_SECONDS, lambda: self._give_up(pod))

    def _tick(self) -> None:
        self._has_opened = self._has_opened or self._is_open()
        if not self._has_opened:
            return
        if self._random.random() < 0.02:
            self._target = self._random.uniform(_LOW + 0.02, _HIGH - 0.02)
        vendors = self._inventory.vendors()
        cards = {vendor.name: self._cards_of(vendor) for vendor in vendors}
        room = {
            vendor.name: self._room(vendor, cards[vendor.name] / sum(cards.values())) for vendor in vendors
        }
        impossible = sum(known.is_impossible for known in self._known.values())
        for _ in range(_BURST):
            open_to = [vendor for vendor in vendors if room[vendor.name] > 0]
            if not open_to:
                return
            vendor = self._random.choices(open_to, [cards[vendor.name] for vendor in open_to])[0]
            room[vendor.name] -= 1
            self._create(vendor, allow_impossible=impossible < _MOST_IMPOSSIBLE)

    def _room(self, vendor: Vendor, part: float) -> int:
        """Return how many more pods of a vendor may be created; part is its part of all cards."""
        if self.allocated(vendor) >= self._target:
            return 0
        waiting = [
            known
            for known in self._known.values()
            if known.vendor == vendor.name and known.is_pending and not known.is_impossible
        ]
        fresh, most = (max(round(limit * part), _LEAST_PENDING) for limit in (_FRESH_PENDING, _ALL_PENDING))
        return min(fresh - sum(known.is_fresh for known in waiting), most - len(waiting))

    def _create(self, vendor: Vendor, *, allow_impossible: bool) -> None:
        """Create one pod; a refusal, of a quota for example, is part of the picture."""
        namespace = self._random.choice(list(_TEAMS))
        pod = self._jobs.pod(
            vendor, namespace=namespace, team=_TEAMS[namespace], allow_impossible=allow_impossible
        )
        with contextlib.suppress(StatusError):
            self.api.create("pods", pod)

    def _cards_of(self, vendor: Vendor) -> int:
        return sum(len(record.health) for record in self._inventory.all() if record.vendor is vendor)

    def _clear_later(self, pod: Json, seconds: float) -> None:
        uid = pod["metadata"]["uid"]
        if JOB in labels(pod) and uid not in self._ending:
            self._ending.add(uid)
            self.after(seconds, lambda: self._clear(pod))

    def _give_up(self, pod: Json) -> None:
        present = self.api.find("pods", key_of(pod))
        if present and not present["spec"].get("nodeName"):
            self._clear(pod)

    def _clear(self, pod: Json) -> None:
        present = self.api.find("pods", key_of(pod))
        if present and present["metadata"]["uid"] == pod["metadata"]["uid"]:
            self.api.delete("pods", key_of(pod))

    def _ensure(self, resource: str, body: Json) -> None:
        if not self.api.exists(resource, key_of(body)):
            self.api.create(resource, body)
