"""Simulated device plugins: they register cards, answer the handshake and hand out what the filter decided.

They read only annotations, as the real ones do (K5.3, P-8, P-11 … P-14, NVP-8).
"""

from collections.abc import Iterator

from simcluster.api import Api
from simcluster.controller import Controller
from simcluster.errors import StatusError
from simcluster.fleet import Vendor
from simcluster.nodes import Inventory
from simcluster.objects import Json, annotations, key_of, now
from simcluster.podspec import containers
from simcluster.quantities import value_of
from simcluster.store import Entry

_BIND_PHASE, _BIND_TIME, _CHOSEN_NODE = "hami.io/bind-phase", "hami.io/bind-time", "hami.io/vgpu-node"
_SCAN_SECONDS = 30.0


class AllocateError(Exception):
    """The plugin cannot serve the container; the pod fails."""


class Plugins(Controller):
    """Registration and handshake of every node's plugin."""

    name = "plugins"
    watches = ("nodes",)

    def __init__(self, api: Api, inventory: Inventory) -> None:
        super().__init__(api)
        self._inventory = inventory
        self._told: dict[str, dict[str, str]] = {}

    def began(self) -> None:
        self.every(_SCAN_SECONDS, self._scan)

    def changed(self, resource: str, entry: Entry) -> None:
        """Answer a handshake that asks; the NVIDIA plugin of v2.10 never does (P-13)."""
        if entry.new is None:
            return
        record = self._inventory.get(entry.new.body["metadata"]["name"])
        if record is None or not record.plugin_up or not record.vendor.handshake.get("replies"):
            return
        key = record.vendor.handshake["key"]
        if "Requesting" in annotations(entry.new.body).get(key, ""):
            stamp = f"Reported_{now().astimezone():%Y-%m-%d %H:%M:%S}"
            self.api.patch("nodes", record.name, {"metadata": {"annotations": {key: stamp}}})

    def refresh(self, name: str) -> None:
        """Write a node's resources and register text now; call after its record changed."""
        record = self._inventory.get(name)
        if record is None:
            return
        status = {
            "capacity": record.resources(healthy_only=False),
            "allocatable": record.resources(healthy_only=True),
        }
        self.api.patch("nodes", name, {"status": status}, subresource="status")
        if record.plugin_up:
            self.api.patch("nodes", name, {"metadata": {"annotations": record.annotations()}})

    def _scan(self) -> None:
        """Patch register texts that changed since the last scan, and only those (K5.1-3)."""
        for record in self._inventory.all():
            text = record.annotations()
            if record.plugin_up and self._told.get(record.name, text) != text:
                self.api.patch("nodes", record.name, {"metadata": {"annotations": text}})
            self._told[record.name] = text


def allocate(api: Api, vendor: Vendor, pod: Json, node: str) -> None:
    """Serve every container of a pod that asks for cards, one call each, init containers first (K5.3-1).

    AllocateError when one cannot be served; the pod it was about is then marked failed and the lock released.
    """
    if not vendor.allocation.get("to_allocate"):
        return
    for count in _card_counts(vendor, pod):
        pending = _pending_pod(api, vendor, node)
        try:
            _serve(api, vendor, pending, count)
        except (AllocateError, StatusError):
            _finish(api, vendor, pending, node, phase="failed")
            raise
        current = api.get("pods", key_of(pending))
        if "," not in annotations(current).get(vendor.allocation["to_allocate"], ""):
            _finish(api, vendor, pending, node, phase="success")


def asks_for(vendor: Vendor, pod: Json) -> bool:
    return next(_card_counts(vendor, pod), 0) > 0


def _card_counts(vendor: Vendor, pod: Json) -> Iterator[int]:
    for _, container in containers(pod):
        count = int(value_of((container["resources"].get("limits") or {}).get(vendor.count_resource, 0)))
        if count > 0:
            yield count


def _pending_pod(api: Api, vendor: Vendor, node: str) -> Json:
    """Return the pod the node lock names, else the first one bound here that waits (P-14)."""
    lock = vendor.allocation.get("lock")
    held = annotations(api.get("nodes", node)).get(lock, "") if lock else ""
    parts = held.split(",")
    if len(parts) == 3:
        return api.get("pods", f"{parts[1]}/{parts[2]}")
    for pod in api.list("pods", fields=f"spec.nodeName={node},status.phase=Pending"):
        notes = annotations(pod)
        waits = _BIND_TIME in notes and notes.get(_BIND_PHASE) in {"allocating", "success"}
        if waits and notes.get(_CHOSEN_NODE) == node:
            return pod
    raise AllocateError(f"no binding pod found on node {node}")


def _serve(api: Api, vendor: Vendor, pod: Json, count: int) -> None:
    """Blank the first container entry that has cards; its number of cards must be what kubelet asked for."""
    key = vendor.allocation["to_allocate"]
    parts = annotations(pod).get(key, "").split(";")
    place = next((place for place, part in enumerate(parts) if "," in part), None)
    if place is None:
        raise AllocateError("no device to allocate found in the pod's annotation")
    if len([card for card in parts[place].split(":") if "," in card]) != count:
        raise AllocateError("device number not matched")
    parts[place] = ""
    api.patch("pods", key_of(pod), {"metadata": {"annotations": {key: ";".join(parts)}}})


def _finish(api: Api, vendor: Vendor, pod: Json, node: str, *, phase: str) -> None:
    api.patch("pods", key_of(pod), {"metadata": {"annotations": {_BIND_PHASE: phase}}})
    lock = vendor.allocation.get("lock")
    if not lock:
        return
    body = api.get("nodes", node)
    meta = pod["metadata"]
    if annotations(body).get(lock, "").endswith(f",{meta['namespace']},{meta['name']}"):
        release = {"resourceVersion": body["metadata"]["resourceVersion"], "annotations": {lock: None}}
        api.patch("nodes", node, {"metadata": release})
