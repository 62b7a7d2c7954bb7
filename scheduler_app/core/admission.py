"""A pod at admission.

What vendors may read and change of it, each change recorded as JSON patch operations (Q-38).

Only what changed is patched, so members this product does not know survive.
"""

from collections.abc import Mapping
from typing import Any

from scheduler_app.core import quantity

Json = dict[str, Any]
Operation = dict[str, Any]


def pointer(*parts: str | int) -> str:
    """Return a JSON pointer; ``~`` and ``/`` in names are escaped (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


class PodDraft:
    """The pod under review; ``raw`` is the received object and is changed together with the patch."""

    def __init__(self, raw: Json) -> None:
        self.raw = raw
        self.operations: list[Operation] = []
        self.warnings: list[str] = []

    @property
    def spec(self) -> Json:
        spec = self.raw.get("spec")
        return spec if isinstance(spec, dict) else {}

    @property
    def annotations(self) -> Mapping[str, str]:
        return _texts(self._metadata("annotations"))

    @property
    def labels(self) -> Mapping[str, str]:
        return _texts(self._metadata("labels"))

    @property
    def namespace(self) -> str:
        return str((self.raw.get("metadata") or {}).get("namespace") or "")

    @property
    def runtime_class(self) -> str | None:
        """The runtime class, None when unset; an empty text is set (NV-26)."""
        value = self.spec.get("runtimeClassName")
        return value if isinstance(value, str) else None

    def set_runtime_class(self, name: str) -> None:
        self.set(("spec", "runtimeClassName"), name)

    def set_annotation(self, key: str, value: str) -> None:
        self.set(("metadata", "annotations", key), value)

    def remove_annotation(self, key: str) -> None:
        if key in self.annotations:
            del self.raw["metadata"]["annotations"][key]
            self.operations.append({"op": "remove", "path": pointer("metadata", "annotations", key)})

    def warn(self, message: str) -> None:
        """Tell the user something that does not stop the pod; duplicates are told once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def containers(self) -> list["ContainerDraft"]:
        """Return drafts of the init containers, then of the app containers."""
        return [
            ContainerDraft(self, ("spec", group, index))
            for group in ("initContainers", "containers")
            for index, _ in enumerate(self.spec.get(group) or [])
        ]

    def set(self, path: tuple[str | int, ...], value: Any) -> None:
        """Set one member, creating the objects on the way, and record it."""
        at: Any = self.raw
        for depth, part in enumerate(path[:-1]):
            below = at.get(part) if isinstance(at, dict) else at[part]
            if below is None:
                self._add(at, path[: depth + 1], {})
                below = at[part]
            at = below
        self._add(at, path, value)

    def append(self, path: tuple[str | int, ...], value: Any) -> None:
        """Append to a list, creating it when absent."""
        *parents, last = path
        at: Any = self.raw
        for part in parents:
            at = at[part]
        if at.get(last) is None:
            self._add(at, path, [value])
            return
        at[last].append(value)
        self.operations.append({"op": "add", "path": pointer(*path, "-"), "value": value})

    def _add(self, at: Any, path: tuple[str | int, ...], value: Any) -> None:
        exists = path[-1] in at
        at[path[-1]] = value
        shown = value.copy() if isinstance(value, (dict, list)) else value
        self.operations.append({"op": "replace" if exists else "add", "path": pointer(*path), "value": shown})

    def _metadata(self, name: str) -> Any:
        return (self.raw.get("metadata") or {}).get(name)


class ContainerDraft:
    """One container of the pod under review; ``path`` is its place in the pod."""

    def __init__(self, pod: PodDraft, path: tuple[str | int, ...]) -> None:
        self.pod = pod
        self._path = path
        _, group, index = path
        self.raw: Json = pod.spec[str(group)][index]
        self.is_init = group == "initContainers"
        self._read: dict[str, Mapping[str, str]] = {}
        self._read_at = -1

    @property
    def name(self) -> str:
        return str(self.raw.get("name") or "")

    @property
    def is_privileged(self) -> bool:
        context = self.raw.get("securityContext")
        return isinstance(context, dict) and context.get("privileged") is True

    @property
    def limits(self) -> Mapping[str, str]:
        return self._resources("limits")

    @property
    def requests(self) -> Mapping[str, str]:
        return self._resources("requests")

    def has(self, resource: str) -> bool:
        """Say whether a resource is named at all, in limits or requests."""
        return bool(resource) and (resource in self.limits or resource in self.requests)

    def quantity_text(self, resource: str) -> str | None:
        """Return the text under ``resource``: limits, then requests."""
        return quantity.lookup(resource, self.limits, self.requests)

    def set_limit(self, resource: str, value: int) -> None:
        """Write a limit in canonical form (VB-7)."""
        self.pod.set((*self._path, "resources", "limits", resource), quantity.canonical(value))

    def set_request(self, resource: str, value: int) -> None:
        self.pod.set((*self._path, "resources", "requests", resource), quantity.canonical(value))

    def complete(self, resource: str) -> None:
        """Write an amount, as it stands, to whichever of limits and requests lacks it (ENF-4)."""
        limits, requests = self.limits, self.requests
        if resource in limits and resource not in requests:
            self.pod.set((*self._path, "resources", "requests", resource), limits[resource])
        elif resource in requests and resource not in limits:
            self.pod.set((*self._path, "resources", "limits", resource), requests[resource])

    def add_env(self, name: str, value: str) -> None:
        """Append an environment variable after the user's own; no check for duplicates (IF-2)."""
        self.pod.append((*self._path, "env"), {"name": name, "value": value})

    def env(self) -> list[Json]:
        return list(self.raw.get("env") or [])

    def _resources(self, group: str) -> Mapping[str, str]:
        """Return amounts as texts; every vendor asks for them, so they are read once after each change."""
        changes = len(self.pod.operations)
        if self._read_at != changes:
            self._read, self._read_at = {}, changes
        found = self._read.get(group)
        if found is None:
            resources = self.raw.get("resources")
            found = self._read[group] = _texts(resources.get(group)) if isinstance(resources, dict) else {}
        return found


def _texts(value: Any) -> dict[str, str]:
    """Return a mapping of texts; a number that JSON wrote without quotes is its text."""
    if not isinstance(value, dict):
        return {}
    return {
        key: item if isinstance(item, str) else str(item) for key, item in value.items() if item is not None
    }
