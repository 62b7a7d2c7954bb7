"""Pods made from a vendor's ``requests``, and what share of its cards such a pod holds.

A row of ``requests``: name, weight among the rows, limits (each an amount or [lowest, highest, step]), and
possibly annotations, models (only where the cluster has one of them) and impossible (no node can serve it).
"""

import random

from simcluster.fleet import Vendor
from simcluster.nodes import Inventory
from simcluster.objects import Json, annotations, labels

JOB, IMPOSSIBLE, VENDOR = "simcluster/job", "simcluster/impossible", "simcluster/vendor"
_CHOSEN_NODE = "hami.io/vgpu-node"
_IMAGE = "registry.example/team/job:1"


class Jobs:
    """Seeded, so that the same run asks for the same pods; names count up."""

    def __init__(self, source: random.Random, inventory: Inventory) -> None:
        self._random, self._inventory = source, inventory
        self._numbers: dict[str, int] = {}

    def pod(self, vendor: Vendor, *, namespace: str, team: str, allow_impossible: bool) -> Json:
        """Return a pod with one of the vendor's requests."""
        present = {record.model.name for record in self._inventory.all() if record.vendor is vendor}
        rows = [
            row
            for row in vendor.requests
            if (allow_impossible or not row.get("impossible"))
            and (not row.get("models") or present.intersection(row["models"]))
        ]
        row = self._random.choices(rows, [row["weight"] for row in rows])[0]
        return self._made(vendor, row, namespace, team)

    def _made(self, vendor: Vendor, row: Json, namespace: str, team: str) -> Json:
        number = self._numbers[row["name"]] = self._numbers.get(row["name"], 0) + 1
        limits = {name: str(self._amount(spec)) for name, spec in row["limits"].items()}
        marks = {"app": row["name"], "team": team, JOB: row["name"], VENDOR: vendor.name}
        if row.get("impossible"):
            marks[IMPOSSIBLE] = "true"
        meta = {"name": f"{row['name']}-{number:05d}", "namespace": namespace, "labels": marks}
        resources = {"limits": {"cpu": "2", "memory": "8Gi"} | limits}
        return {
            "metadata": meta | {"annotations": dict(row.get("annotations") or {})},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": _IMAGE, "resources": resources}],
            },
        }

    def _amount(self, spec: int | list[int]) -> int:
        if isinstance(spec, int):
            return spec
        return self._random.randrange(spec[0], spec[1] + 1, spec[2])


def vendor_of(pod: Json) -> str:
    """Return the key of the vendor a pod was made for; "" for a pod of someone else."""
    return labels(pod).get(VENDOR, "")


def cards_held(pod: Json, inventory: Inventory) -> float:
    """Return how many cards a pod holds, a part of one by its memory, else by the number of shares.

    Read from the third field of ``uuid,type,mem,cores:`` (P-8); 0 before a node is chosen.
    """
    notes = annotations(pod)
    record = inventory.get(pod["spec"].get("nodeName") or notes.get(_CHOSEN_NODE, ""))
    if record is None:
        return 0.0
    text = notes.get(record.vendor.allocation["allocated"], "")
    pieces = [card.split(",") for part in text.split(";") for card in part.split(":")]
    amounts = [int(fields[2]) for fields in pieces if len(fields) >= 4 and fields[2].isdigit()]
    total, share = record.model.mem_mib, 1 / record.vendor.shares
    return sum(mem / total if mem and total else share for mem in amounts)
