"""What the server says about itself: ``/version``, ``/api``, ``/apis`` and the resource lists.

Only the legacy form is served; the aggregated one breaks kubectl 1.27 to 1.29 (K4.2-3).
"""

import platform

from simcluster import errors, resources
from simcluster.objects import Json

_VERBS = list(resources.VERBS)
_SUBRESOURCES = {
    "binding": ("Binding", ["create"]),
    "eviction": ("Eviction", ["create"]),
}


def version() -> Json:
    return {
        "major": "1",
        "minor": "32",
        "gitVersion": "v1.32.0-simcluster",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": f"linux/{'arm64' if platform.machine() == 'aarch64' else 'amd64'}",
    }


def document(parts: list[str], *, host: str) -> Json:
    """Return the answer for ``/api…`` and ``/apis…`` paths without a resource; StatusError 404 otherwise."""
    match parts:
        case ["version"]:
            return version()
        case ["api"]:
            return _api_versions(host)
        case ["apis"]:
            return _group_list()
        case ["apis", group] if group in resources.groups():
            return {"kind": "APIGroup", "apiVersion": "v1"} | _group(group)
        case ["api", "v1"]:
            return _resource_list("", "v1")
        case ["apis", group, version_] if resources.groups().get(group) == version_:
            return _resource_list(group, version_)
    raise errors.no_such_path()


def _api_versions(host: str) -> Json:
    where = [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": where}


def _group_list() -> Json:
    groups = [_group(name) for name in resources.groups()]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _group(name: str) -> Json:
    version_ = resources.groups()[name]
    row = {"groupVersion": f"{name}/{version_}", "version": version_}
    return {"name": name, "versions": [row], "preferredVersion": row}


def _resource_list(group: str, version_: str) -> Json:
    rows: list[Json] = []
    for resource in resources.in_group(group, version_):
        rows.append(_row(resource))
        rows.extend(_subresource(resource, name) for name in resource.subresources)
    if not group:
        rows.append(
            {"name": "bindings", "singularName": "binding", "namespaced": True, "kind": "Binding"}
            | {"verbs": ["create"]}
        )
    api_version = f"{group}/{version_}" if group else version_
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": rows}


def _row(resource: resources.Resource) -> Json:
    row: Json = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": _VERBS,
    }
    if resource.short:
        row["shortNames"] = list(resource.short)
    if resource.categories:
        row["categories"] = list(resource.categories)
    return row


def _subresource(resource: resources.Resource, name: str) -> Json:
    kind, verbs = _SUBRESOURCES.get(name, (resource.kind, ["get", "patch", "update"]))
    row: Json = {"name": f"{resource.plural}/{name}", "singularName": "", "namespaced": resource.namespaced}
    row |= {"kind": kind, "verbs": verbs}
    if kind == "Eviction":
        row |= {"group": "policy", "version": "v1"}
    return row
