"""The table of resources: what is served, under which path, with which subresources and short names."""

from collections.abc import Iterable
from dataclasses import dataclass

from simcluster import errors

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource; ``storage`` names the resource that holds the objects where two share them."""

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    storage: str = ""

    @property
    def qualified(self) -> str:
        """The name in messages and of the storage: ``pods``, ``leases.coordination.k8s.io``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def stored_as(self) -> str:
        return self.storage or self.qualified

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        return self.kind.lower()


_EVENTS = "events"
_APPS = {"group": "apps", "categories": ("all",), "subresources": ("status",)}
_STORAGE = "storage.k8s.io"

TABLE: tuple[Resource, ...] = (
    Resource(
        "pods",
        "Pod",
        short=("po",),
        categories=("all",),
        subresources=("status", "binding", "eviction", "ephemeralcontainers", "resize"),
    ),
    Resource("nodes", "Node", namespaced=False, short=("no",), subresources=("status",)),
    Resource("namespaces", "Namespace", namespaced=False, short=("ns",), subresources=("status", "finalize")),
    Resource("events", "Event", short=("ev",)),
    Resource("configmaps", "ConfigMap", short=("cm",)),
    Resource("secrets", "Secret"),
    Resource("services", "Service", short=("svc",), categories=("all",), subresources=("status",)),
    Resource("serviceaccounts", "ServiceAccount", short=("sa",)),
    Resource("resourcequotas", "ResourceQuota", short=("quota",), subresources=("status",)),
    Resource("limitranges", "LimitRange", short=("limits",)),
    Resource("persistentvolumeclaims", "PersistentVolumeClaim", short=("pvc",), subresources=("status",)),
    Resource("persistentvolumes", "PersistentVolume", namespaced=False, short=("pv",)),
    Resource("leases", "Lease", group="coordination.k8s.io"),
    Resource("events", "Event", group="events.k8s.io", short=("ev",), storage=_EVENTS),
    Resource(
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        group="admissionregistration.k8s.io",
        namespaced=False,
    ),
    Resource("deployments", "Deployment", short=("deploy",), **_APPS),  # type: ignore[arg-type]  # a shared tail
    Resource("replicasets", "ReplicaSet", short=("rs",), **_APPS),  # type: ignore[arg-type]  # a shared tail
    Resource("daemonsets", "DaemonSet", short=("ds",), **_APPS),  # type: ignore[arg-type]  # a shared tail
    Resource("statefulsets", "StatefulSet", short=("sts",), **_APPS),  # type: ignore[arg-type]  # a shared tail
    Resource("jobs", "Job", group="batch", categories=("all",), subresources=("status",)),
    Resource("poddisruptionbudgets", "PodDisruptionBudget", group="policy", short=("pdb",)),
    Resource("priorityclasses", "PriorityClass", group="scheduling.k8s.io", namespaced=False, short=("pc",)),
    Resource("storageclasses", "StorageClass", group=_STORAGE, namespaced=False, short=("sc",)),
    Resource("csinodes", "CSINode", group=_STORAGE, namespaced=False),
    Resource("csidrivers", "CSIDriver", group=_STORAGE, namespaced=False),
    Resource("csistoragecapacities", "CSIStorageCapacity", group=_STORAGE),
    Resource("volumeattachments", "VolumeAttachment", group=_STORAGE, namespaced=False),
)

_BY_PATH = {(row.group, row.version, row.plural): row for row in TABLE}
_BY_NAME = {row.qualified: row for row in reversed(TABLE)} | {row.plural: row for row in reversed(TABLE)}


def by_path(group: str, version: str, plural: str) -> Resource:
    """Return the row behind a URL; StatusError 404 where nothing is served."""
    try:
        return _BY_PATH[group, version, plural]
    except KeyError:
        raise errors.no_such_path() from None


def by_name(name: str) -> Resource:
    """Return the row called ``pods`` or ``leases.coordination.k8s.io``; KeyError for other names."""
    return _BY_NAME[name]


def groups() -> dict[str, str]:
    """Return group → version of all named groups, in table order."""
    return {row.group: row.version for row in TABLE if row.group}


def in_group(group: str, version: str) -> Iterable[Resource]:
    return [row for row in TABLE if (row.group, row.version) == (group, version)]
