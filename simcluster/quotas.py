"""The ResourceQuota status controller: ``status.hard`` and ``status.used``; it enforces nothing.

Only what Kubernetes itself counts is counted: objects, cpu and memory, ``requests.<extended resource>``. A
``limits.<extended resource>`` stays without a used figure, as in a real cluster.
"""

from collections import defaultdict
from fractions import Fraction

from simcluster.api import Api
from simcluster.controller import Controller
from simcluster.errors import StatusError
from simcluster.objects import Json
from simcluster.podspec import containers, is_extended
from simcluster.quantities import canonical, value_of
from simcluster.store import Entry

_PAUSE_SECONDS = 0.5
_BYTES = ("memory", "ephemeral-storage")


class Quotas(Controller):
    """Recounts a namespace soon after something in it changed."""

    name = "quotas"
    watches = ("resourcequotas", "pods")

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._guarded_namespaces: set[str] = set()
        self._due: set[str] = set()

    def changed(self, resource: str, entry: Entry) -> None:
        namespace = entry.final.body["metadata"]["namespace"]
        if resource == "resourcequotas":
            self._guarded_namespaces.add(namespace)
        if namespace in self._guarded_namespaces and namespace not in self._due:
            self._due.add(namespace)
            self.after(_PAUSE_SECONDS, lambda: self._recount(namespace))

    def _recount(self, namespace: str) -> None:
        self._due.discard(namespace)
        quotas = self.api.list("resourcequotas", namespace=namespace)
        if not quotas:
            self._guarded_namespaces.discard(namespace)
            return
        used = usage(self.api.list("pods", namespace=namespace))
        for quota in quotas:
            self._write(quota, used)

    def _write(self, quota: Json, used: dict[str, str]) -> None:
        hard = (quota.get("spec") or {}).get("hard") or {}
        status = {"hard": hard, "used": {name: used.get(name, "0") for name in hard if is_counted(name)}}
        if quota.get("status") != status:
            meta = quota["metadata"]
            try:
                self.api.update(
                    "resourcequotas",
                    f"{meta['namespace']}/{meta['name']}",
                    quota | {"status": status},
                    subresource="status",
                )
            except StatusError:
                self.soon(lambda: self._recount(meta["namespace"]))


def is_counted(name: str) -> bool:
    """Whether Kubernetes has a figure for this name of a quota."""
    prefix, dot, resource = name.partition(".")
    if dot and is_extended(resource):
        return prefix == "requests"
    return not is_extended(name)


def usage(pods: list[Json]) -> dict[str, str]:
    """Return what the unfinished pods use, under the names quotas use."""
    total: dict[str, Fraction] = defaultdict(Fraction)
    for pod in pods:
        if (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}:
            continue
        total["pods"] += 1
        for path, container in containers(pod):
            if path.startswith("spec.containers"):
                _add(total, container["resources"])
    return {name: canonical(_text(name, value)) for name, value in total.items()}


def _add(total: dict[str, Fraction], resources: Json) -> None:
    for part in ("requests", "limits"):
        for name, text in (resources.get(part) or {}).items():
            total[f"{part}.{name}"] += value_of(text)
            if part == "requests" and not is_extended(name):
                total[name] += value_of(text)


def _text(name: str, value: Fraction) -> str:
    if name.endswith(_BYTES) and value % 1024 == 0:
        return f"{int(value) // 1024}Ki"
    return str(int(value)) if value.denominator == 1 else f"{int(value * 1000)}m"
