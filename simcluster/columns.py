"""Which columns a table of each resource has, and what stands in a cell."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simcluster.objects import Json, labels, lookup, now, parse_time

_UNKNOWN = "<unknown>"
_ROLE = "node-role.kubernetes.io/"


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, the function that fills a cell from an object; priority 1 shows with ``-o wide`` only."""

    name: str
    cell: Callable[[Json], Any]
    priority: int = 0
    type: str = "string"


def of(plural: str) -> tuple[Column, ...]:
    return _COLUMNS.get(plural, _DEFAULT)


def human_duration(seconds: float) -> str:
    """Return an age as kubectl prints it: ``90s``, ``2m5s``, ``5m``, ``3h12m``, ``2d``."""
    whole = int(seconds)
    if whole < 120:
        return f"{max(whole, 0)}s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes < 10:
        return _pair(minutes, "m", whole % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _pair(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    return _pair(days, "d", hours % 24, "h") if days < 8 else f"{days}d"


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}" + (f"{small}{small_unit}" if small else "")


def _at(path: str) -> Callable[[Json], Any]:
    return lambda body: lookup(body, path)


def _since(text: object) -> str:
    if not isinstance(text, str):
        return _UNKNOWN
    return human_duration((now() - parse_time(text)).total_seconds())


def _age(body: Json) -> str:
    return _since(body["metadata"].get("creationTimestamp"))


def _ready(pod: Json) -> str:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    ready = sum(bool(status.get("ready")) for status in statuses)
    return f"{ready}/{len(pod['spec'].get('containers') or [])}"


def _pod_status(pod: Json) -> str:
    status = pod.get("status") or {}
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for container in status.get("containerStatuses") or []:
        state = container.get("state") or {}
        reason = (state.get("waiting") or state.get("terminated") or {}).get("reason")
        if reason:
            return str(reason)
    return str(status.get("reason") or status.get("phase") or _UNKNOWN)


def _restarts(pod: Json) -> str:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return str(sum(status.get("restartCount", 0) for status in statuses))


def _node_status(node: Json) -> str:
    conditions = (node.get("status") or {}).get("conditions") or []
    ready = next((row["status"] for row in conditions if row["type"] == "Ready"), "Unknown")
    words = {"True": "Ready", "False": "NotReady"}
    cordoned = ",SchedulingDisabled" if node.get("spec", {}).get("unschedulable") else ""
    return words.get(ready, "NotReady") + cordoned


def _node_roles(node: Json) -> str:
    return ",".join(sorted(name.removeprefix(_ROLE) for name in labels(node) if name.startswith(_ROLE)))


def _address(kind: str) -> Callable[[Json], Any]:
    def cell(node: Json) -> Any:
        addresses = (node.get("status") or {}).get("addresses") or []
        return next((row["address"] for row in addresses if row["type"] == kind), None)

    return cell


def _event_time(event: Json) -> str:
    series = event.get("series") or {}
    moments = (event.get("lastTimestamp"), series.get("lastObservedTime"), event.get("eventTime"))
    last = next((moment for moment in moments if moment), None)
    return _since(last or event.get("firstTimestamp"))


def _event_object(event: Json) -> str:
    about = event.get("involvedObject") or {}
    return f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"


def _event_source(event: Json) -> str:
    source = event.get("source") or {}
    parts = (source.get("component") or event.get("reportingComponent"), source.get("host"))
    return ", ".join(part for part in parts if part)


def _quota(prefix: str, *, wanted: bool) -> Callable[[Json], str]:
    """Return the cell that lists ``name: used/hard`` for resources that do (or do not) start with prefix."""

    def cell(quota: Json) -> str:
        status = quota.get("status") or {}
        hard, used = status.get("hard") or {}, status.get("used") or {}
        names = sorted(name for name in hard if name.startswith(prefix) is wanted)
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return cell


_NAME = Column("Name", _at("metadata.name"))
_AGE = Column("Age", _age)
_DEFAULT = (_NAME, _AGE)
_COLUMNS: dict[str, tuple[Column, ...]] = {
    "pods": (
        _NAME,
        Column("Ready", _ready),
        Column("Status", _pod_status),
        Column("Restarts", _restarts),
        _AGE,
        Column("IP", _at("status.podIP"), 1),
        Column("Node", _at("spec.nodeName"), 1),
        Column("Nominated Node", _at("status.nominatedNodeName"), 1),
        Column("Readiness Gates", lambda pod: None, 1),
    ),
    "nodes": (
        _NAME,
        Column("Status", _node_status),
        Column("Roles", _node_roles),
        _AGE,
        Column("Version", _at("status.nodeInfo.kubeletVersion")),
        Column("Internal-IP", _address("InternalIP"), 1),
        Column("External-IP", _address("ExternalIP"), 1),
        Column("OS-Image", _at("status.nodeInfo.osImage"), 1),
        Column("Kernel-Version", _at("status.nodeInfo.kernelVersion"), 1),
        Column("Container-Runtime", _at("status.nodeInfo.containerRuntimeVersion"), 1),
    ),
    "events": (
        Column("Last Seen", _event_time),
        Column("Type", _at("type")),
        Column("Reason", _at("reason")),
        Column("Object", _event_object),
        Column("Source", _event_source, 1),
        Column("Message", lambda event: str(event.get("message", "")).strip()),
        Column("First Seen", lambda event: _since(event.get("firstTimestamp")), 1),
        Column("Count", lambda event: event.get("count") or 1, 1, "integer"),
        Column("Name", _at("metadata.name"), 1),
    ),
    "resourcequotas": (
        _NAME,
        Column("Request", _quota("limits.", wanted=False)),
        Column("Limit", _quota("limits.", wanted=True)),
        _AGE,
    ),
    "leases": (_NAME, Column("Holder", _at("spec.holderIdentity")), _AGE),
    "namespaces": (_NAME, Column("Status", _at("status.phase")), _AGE),
    "configmaps": (_NAME, Column("Data", lambda body: len(body.get("data") or {}), 0, "integer"), _AGE),
    "serviceaccounts": (_NAME, Column("Secrets", lambda body: len(body.get("secrets") or [])), _AGE),
    "mutatingwebhookconfigurations": (
        _NAME,
        Column("Webhooks", lambda body: len(body.get("webhooks") or []), 0, "integer"),
        _AGE,
    ),
}
