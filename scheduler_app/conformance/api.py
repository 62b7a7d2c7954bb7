"""An API server's store in memory: objects, merge patches, bindings, a log of writes, and errors to inject.

It does what the recording's stand-in did: no conflicts of its own, no defaults, no validation.
"""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from scheduler_app.kube import errors

Json = dict[str, Any]
Key = tuple[str, str, str]
"""Resource, namespace (empty for nodes) and name."""
RESOURCES = {"Node": "nodes", "Pod": "pods", "ResourceQuota": "resourcequotas", "Lease": "leases"}
FIRST_VERSION = "100"
MERGE_PATCH = "application/merge-patch+json"


@dataclass(slots=True)
class Fault:
    """Errors to return for matching requests (format in the data's own README)."""

    raw: Json
    seen: int = 0

    def strikes(self, verb: str, key: Key, subresource: str, body: str) -> bool:
        """Say whether this request fails, and count it."""
        raw = self.raw
        wanted = (raw["verb"], raw["resource"], raw.get("subresource", ""))
        if wanted != (verb, key[0], subresource) or raw.get("name", key[2]) != key[2]:
            return False
        if raw.get("contains", "") not in body:
            return False
        self.seen += 1
        skip, times = raw.get("skip", 0), raw.get("times")
        return self.seen > skip and (times is None or self.seen <= skip + times)


@dataclass(slots=True)
class Api:
    objects: dict[Key, Json] = field(default_factory=dict)
    writes: list[Json] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def set_faults(self, raw: Iterable[Json]) -> None:
        self.faults = [Fault(item) for item in raw]

    def put(self, item: Json) -> Json:
        """Create or replace an object, as somebody else would; no fault, no line in the log of writes."""
        stored = copy.deepcopy(item)
        stored.setdefault("metadata", {}).setdefault("resourceVersion", FIRST_VERSION)
        self.objects[key_of(item)] = stored
        return stored

    def remove(self, key: Key) -> Json | None:
        return self.objects.pop(key, None)

    def of(self, resource: str) -> list[Json]:
        return [item for key, item in self.objects.items() if key[0] == resource]

    def get(self, key: Key) -> Json:
        self._fail("get", key, "", "")
        return copy.deepcopy(self._stored(key))

    def patch(self, key: Key, body: Json) -> Json:
        """Merge ``body`` into an object (RFC 7396)."""
        entry = self._log("patch", key, body, patch_type=MERGE_PATCH)
        self._fail("patch", key, "", str(body).replace("None", "null"), entry)
        fresh: Json = _merged(self._stored(key, entry), body)
        self.objects[key] = fresh
        return fresh

    def bind(self, key: Key, body: Json) -> None:
        entry = self._log("create", key, body, subresource="binding")
        self._fail("create", key, "binding", str(body), entry)
        self._stored(key, entry)

    def _stored(self, key: Key, entry: Json | None = None) -> Json:
        found = self.objects.get(key)
        if found is None:
            if entry is not None:
                entry["failed"] = True
            raise errors.NotFoundError(f'{key[0]} "{key[2]}" not found', status=404)
        return found

    def _log(self, verb: str, key: Key, body: Json, **more: str) -> Json:
        resource, namespace, name = key
        entry: Json = {"verb": verb, "resource": resource, "name": name, "body": copy.deepcopy(body), **more}
        if namespace:
            entry["namespace"] = namespace
        self.writes.append(entry)
        return entry

    def _fail(self, verb: str, key: Key, subresource: str, body: str, entry: Json | None = None) -> None:
        for fault in self.faults:
            if fault.strikes(verb, key, subresource, body):
                if entry is not None:
                    entry["failed"] = True
                raw = fault.raw
                kind = {404: errors.NotFoundError, 409: errors.ConflictError, 403: errors.ForbiddenError}
                raise kind.get(raw["code"], errors.ApiError)(raw["message"], status=raw["code"])


def key_of(item: Json) -> Key:
    meta = item["metadata"]
    return RESOURCES[item["kind"]], meta.get("namespace", ""), meta["name"]


def _merged(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), value)
    return result
