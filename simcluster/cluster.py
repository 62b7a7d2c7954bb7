"""The embedded cluster as one object: the API over HTTP, its nodes and everything that lives on them."""

import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from simcluster import fleet, kubeconfig
from simcluster.admission import Webhooks
from simcluster.api import Api
from simcluster.apiserver import HttpApi, Listening
from simcluster.callers import Caller, listens
from simcluster.controller import Controller
from simcluster.faults import Faults
from simcluster.kubelets import Kubelets, Pace
from simcluster.kubescheduler import KubeScheduler
from simcluster.leases import NODE_LEASES, Leases
from simcluster.nodes import Inventory
from simcluster.objects import Json
from simcluster.plugins import Plugins
from simcluster.quotas import Quotas
from simcluster.store import Store
from simcluster.verbs import Verbs
from simcluster.workload import Workload

_NAMESPACES = ("default", "kube-system", "kube-public", NODE_LEASES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the cluster consists of.

    ``fleet``: ``nvidia:20x8,mthreads:4x8`` (nodes x cards). ``extender_url``: kube-scheduler's urlPrefix;
    without one no scheduler runs. ``webhook_url``: registered for pod creation, empty for none. ``lease``:
    (namespace, name) that a kube-scheduler on this host holds. ``allocate_seconds``: from binding to the end
    of Allocate. ``pod_seconds``: the range of a pod's run, None for ever. ``token``: asked of every client
    when set. ``review_versions``: of the webhook.
    """

    fleet: str = fleet.DEMO_FLEET
    seed: int = 7
    host: str = "127.0.0.1"
    port: int = 0
    scheduler_name: str = "hami-scheduler"
    extender_url: str = ""
    webhook_url: str = ""
    workload: bool = True
    kubelets: bool = True
    kubescheduler: bool = True
    lease: tuple[str, str] | None = None
    allocate_seconds: float = 0.5
    pod_seconds: tuple[float, float] | None = (20.0, 90.0)
    token: str = ""
    bookmark_seconds: float = 60.0
    review_versions: tuple[str, ...] = ("v1beta1",)


class Cluster:
    """``start`` once, ``stop`` as often as one likes; as a context manager it does both."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._store = Store()
        self._caller = Caller()
        verbs = Verbs(self._store, Webhooks(self._store, self._caller, service_url=settings.webhook_url))
        self.api = Api(verbs)
        self.faults = Faults()
        self._inventory = Inventory()
        listening = Listening(settings.host, settings.port, settings.token, settings.bookmark_seconds)
        self._http = HttpApi(verbs, self.faults, listening)
        self._plugins = Plugins(self.api, self._inventory)
        self._controllers = self._build_controllers()
        self._lock = threading.Lock()
        self._is_stopped = False

    @property
    def url(self) -> str:
        return self._http.url

    def kubeconfig(self) -> str:
        """Return a kubeconfig's text; the cluster must have been started."""
        return kubeconfig.text(self.url, token=self.settings.token)

    def start(self) -> None:
        for name in _NAMESPACES:
            self.api.create("namespaces", {"metadata": {"name": name}})
            self.api.create("serviceaccounts", {"metadata": {"name": "default", "namespace": name}})
        if self.settings.webhook_url:
            self.api.create("mutatingwebhookconfigurations", self._webhook())
        self._add_fleet()
        self._http.start()
        for controller in self._controllers:
            controller.start()

    def settle(self) -> None:
        """Ask nothing of the product any more, so that it may end first; the API goes on until ``stop``."""
        for controller in self._controllers:
            if isinstance(controller, (Workload, KubeScheduler)):
                controller.settle()

    def stop(self) -> None:
        with self._lock:
            if self._is_stopped:
                return
            self._is_stopped = True
        self._caller.close()
        for controller in self._controllers:
            controller.stop()
        self._http.stop()
        for controller in self._controllers:
            controller.join()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def add_node(self, vendor: str, model: str = "", cards: int = 8) -> str:
        """Add a node of a vendor (and model, else its first); return the node's name."""
        data = fleet.vendor(vendor)
        record = self._inventory.add(data, data.model(model) if model else data.models[0], cards)
        self.api.create("nodes", record.body())
        return record.name

    def remove_node(self, name: str) -> None:
        """Take a node away; its pods follow."""
        self._inventory.remove(name)
        self.api.delete("nodes", name)

    def silence_plugin(self, name: str) -> None:
        """Let a node's device plugin die: nothing allocatable, no answers, no Allocate."""
        self._set_plugin(name, is_up=False)

    def restore_plugin(self, name: str) -> None:
        self._set_plugin(name, is_up=True)

    def set_card_health(self, name: str, index: int, *, healthy: bool) -> None:
        """Let a card fail or recover; the plugin registers it anew."""
        record = self._inventory.get(name)
        if record is None:
            raise KeyError(name)
        record.health[index] = healthy
        self._plugins.refresh(name)

    def send_bookmarks(self) -> None:
        """Send a bookmark on every watch now."""
        self._http.send_bookmarks()

    def _set_plugin(self, name: str, *, is_up: bool) -> None:
        record = self._inventory.get(name)
        if record is None:
            raise KeyError(name)
        record.plugin_up = is_up
        self._plugins.refresh(name)

    def _build_controllers(self) -> list[Controller]:
        settings, api, inventory = self.settings, self.api, self._inventory
        chosen: list[Controller] = [Quotas(api), self._plugins, Leases(api, inventory, lease=settings.lease)]
        if settings.kubelets:
            pace = Pace(settings.allocate_seconds, settings.pod_seconds)
            chosen.append(Kubelets(api, inventory, pace, seed=settings.seed))
        if settings.kubescheduler and settings.extender_url:
            chosen.append(
                KubeScheduler(
                    api,
                    scheduler_name=settings.scheduler_name,
                    extender_url=settings.extender_url,
                    managed=self._managed,
                )
            )
        if settings.workload:
            chosen.append(Workload(api, inventory, seed=settings.seed, is_open=self._is_open))
        return chosen

    def _is_open(self) -> bool:
        """Whether the product is there: a pod admitted without its webhook would never be scheduled."""
        return all(listens(url) for url in (self.settings.webhook_url, self.settings.extender_url) if url)

    def _managed(self) -> frozenset[str]:
        return frozenset(name for vendor in self._inventory.vendors() for name in vendor.managed)

    def _add_fleet(self) -> None:
        for group in fleet.parse(self.settings.fleet):
            models = [model for model in fleet.vendor(group.vendor).models if model.in_turn]
            for number in range(group.nodes):
                model = group.model or models[number % len(models)].name
                self.add_node(group.vendor, model, group.cards)

    def _webhook(self) -> Json:
        """Return the webhook's registration with the fields of HAMi's chart (K2.4-1, K2.4-2)."""
        ignore = {"key": "hami.io/webhook", "operator": "NotIn", "values": ["ignore"]}
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        webhook = {
            "name": "vgpu.hami.io",
            "admissionReviewVersions": list(self.settings.review_versions),
            "clientConfig": {"url": self.settings.webhook_url},
            "failurePolicy": "Ignore",
            "matchPolicy": "Equivalent",
            "reinvocationPolicy": "Never",
            "sideEffects": "None",
            "timeoutSeconds": 10,
            "namespaceSelector": {"matchExpressions": [ignore]},
            "objectSelector": {"matchExpressions": [ignore]},
            "rules": [rule | {"scope": "*"}],
        }
        return {"metadata": {"name": "hami-webhook"}, "webhooks": [webhook]}
