"""Simulated device plugins: they register cards and answer the handshake (K5.1); see also ``allocation``."""

from simcluster.api import Api
from simcluster.controller import Controller
from simcluster.nodes import Inventory
from simcluster.objects import annotations, now
from simcluster.store import Entry

_SCAN_SECONDS = 30.0


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
