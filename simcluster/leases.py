"""Holders of Leases: kube-scheduler's own, and one for each node."""

import platform

from simcluster.api import Api
from simcluster.controller import Controller
from simcluster.errors import StatusError
from simcluster.nodes import Inventory
from simcluster.objects import Json, micro_time_text, new_uid

NODE_LEASES = "kube-node-lease"
_RENEW_SECONDS, _DURATION_SECONDS = 2.0, 15
_NODE_RENEW_SECONDS, _NODE_DURATION_SECONDS = 10.0, 40


class Leases(Controller):
    """Renews the node leases and, when named, the scheduler's lease."""

    name = "leases"

    def __init__(self, api: Api, inventory: Inventory, *, lease: tuple[str, str] | None) -> None:
        """Lease is (namespace, name); its holder is ``<hostname>_<uuid>`` (K3.7-6)."""
        super().__init__(api)
        self._inventory, self._lease = inventory, lease
        self.identity = f"{platform.node()}_{new_uid()}"

    def began(self) -> None:
        if self._lease:
            self.every(_RENEW_SECONDS, self._renew)
        self.every(_NODE_RENEW_SECONDS, self._renew_nodes)

    def _renew(self) -> None:
        if self._lease:
            self._hold(*self._lease, self.identity, _DURATION_SECONDS)

    def _renew_nodes(self) -> None:
        for record in self._inventory.all():
            self._hold(NODE_LEASES, record.name, record.name, _NODE_DURATION_SECONDS)

    def _hold(self, namespace: str, name: str, holder: str, seconds: int) -> None:
        stamp = micro_time_text()
        spec: Json = {"holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": stamp}
        try:
            self.api.patch("leases", f"{namespace}/{name}", {"spec": spec})
        except StatusError as exc:
            if exc.code != 404:
                raise
            first = {"acquireTime": stamp, "leaseTransitions": 0}
            self.api.create(
                "leases", {"metadata": {"name": name, "namespace": namespace}, "spec": spec | first}
            )
