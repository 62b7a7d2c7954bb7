"""A seeded generator of pods: teams that come and go on the cards, so that 60 to 75 % are in use."""

import contextlib
import random
import time
from dataclasses import dataclass

from simcluster.api import Api
from simcluster.controller import Controller
from simcluster.errors import StatusError
from simcluster.fleet import Vendor
from simcluster.nodes import Inventory
from simcluster.objects import Json, annotations, key_of
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
_FRESH_SECONDS = 15.0
_MOST_IMPOSSIBLE = 3
_KEEP_FINISHED_SECONDS = 15.0
_KEEP_PENDING_SECONDS = 120.0
_JOB = "simcluster/job"
_IMAGE = "registry.example/team/job:1"


@dataclass(slots=True)
class Known:
    """What the generator remembers of a pod: the memory it holds in MiB, since when (monotonic)."""

    mem_mib: int
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

    def __init__(self, api: Api, inventory: Inventory, *, seed: int) -> None:
        super().__init__(api)
        self._inventory = inventory
        self._random = random.Random(seed)  # noqa: S311  (a reproducible demo, no secret)
        self._known: dict[str, Known] = {}
        self._ending: set[str] = set()
        self._target = (_LOW + _HIGH) / 2
        self._job_numbers: dict[str, int] = {}

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

    def allocated(self) -> float:
        """Return the share of all card memory that is allocated."""
        total = sum(record.model.mem_mib * len(record.health) for record in self._inventory.all())
        return sum(known.mem_mib for known in self._known.values()) / total if total else 1.0

    def _know(self, pod: Json, uid: str) -> None:
        labels, known = pod["metadata"].get("labels") or {}, self._known.get(uid)
        self._known[uid] = Known(
            mem_mib=_allocated_mib(pod, self._inventory.vendors()),
            is_pending=not pod["spec"].get("nodeName"),
            is_impossible=labels.get("simcluster/impossible") == "true",
            since=known.since if known else time.monotonic(),
        )
        if known is None and _JOB in labels:
            self.after(_KEEP_PENDING_SECONDS, lambda: self._give_up(pod))

    def _tick(self) -> None:
        if self._random.random() < 0.02:
            self._target = self._random.uniform(_LOW + 0.02, _HIGH - 0.02)
        vendors = self._inventory.vendors()
        waiting = [known for known in self._known.values() if known.is_pending and not known.is_impossible]
        impossible = sum(known.is_impossible for known in self._known.values())
        room = min(_FRESH_PENDING - sum(known.is_fresh for known in waiting), _ALL_PENDING - len(waiting))
        if not vendors or self.allocated() >= self._target:
            return
        for _ in range(min(_BURST, room)):
            self._create(vendors, allow_impossible=impossible < _MOST_IMPOSSIBLE)

    def _create(self, vendors: list[Vendor], *, allow_impossible: bool) -> None:
        """Create one pod; a refusal, of a quota for example, is part of the picture."""
        weights = [self._nodes_of(vendor) for vendor in vendors]
        vendor = self._random.choices(vendors, weights)[0]
        rows = [row for row in vendor.requests if allow_impossible or not row.get("impossible")]
        row = self._random.choices(rows, [row["weight"] for row in rows])[0]
        namespace = self._random.choice(list(_TEAMS))
        with contextlib.suppress(StatusError):
            self.api.create("pods", self._pod(row, namespace))

    def _pod(self, row: Json, namespace: str) -> Json:
        number = self._job_numbers[row["name"]] = self._job_numbers.get(row["name"], 0) + 1
        limits = {name: str(self._amount(spec)) for name, spec in row["limits"].items()}
        labels = {"app": row["name"], "team": _TEAMS[namespace], _JOB: row["name"]}
        if row.get("impossible"):
            labels["simcluster/impossible"] = "true"
        resources = {"limits": {"cpu": "2", "memory": "8Gi"} | limits}
        return {
            "metadata": {"name": f"{row['name']}-{number:05d}", "namespace": namespace, "labels": labels},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": _IMAGE, "resources": resources}],
            },
        }

    def _amount(self, spec: int | list[int]) -> int:
        """A number, or [lowest, highest, step]."""
        if isinstance(spec, int):
            return spec
        return self._random.randrange(spec[0], spec[1] + 1, spec[2])

    def _nodes_of(self, vendor: Vendor) -> int:
        return sum(record.vendor is vendor for record in self._inventory.all())

    def _clear_later(self, pod: Json, seconds: float) -> None:
        uid = pod["metadata"]["uid"]
        if _JOB in (pod["metadata"].get("labels") or {}) and uid not in self._ending:
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


def _allocated_mib(pod: Json, vendors: list[Vendor]) -> int:
    """Add up the third field of ``uuid,type,mem,cores:`` over all cards of all vendors (P-8)."""
    notes = annotations(pod)
    texts = [notes.get(vendor.allocation.get("allocated", ""), "") for vendor in vendors]
    cards = [card.split(",") for text in texts for part in text.split(";") for card in part.split(":")]
    return sum(int(fields[2]) for fields in cards if len(fields) >= 4 and fields[2].isdigit())
