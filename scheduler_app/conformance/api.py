"""An API server in memory: objects, merge patches, bindings, a log of writes, and errors to inject.

It does what the recording's stand-in did: no conflicts of its own, no defaults, no validation, and a patched
object keeps its resource version.
"""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import orjson

from scheduler_app.kube import errors, paths
from scheduler_app.kube.client import JSON, KubeClient
from scheduler_app.kube.throttle import Throttle

Json = dict[str, Any]
Key = tuple[str, str, str]
"""Resource, namespace (empty for nodes) and name."""
RESOURCES = {"Node": "nodes", "Pod": "pods", "ResourceQuota": "resourcequotas", "Lease": "leases"}
FIRST_VERSION = "100"
EVENTS = "events"


@dataclass(slots=True)
class Fault:
    """Errors to return for matching requests (format in the data's own README)."""

    raw: Json
    seen: int = 0

    def strikes(self, verb: str, key: Key, subresource: str, body: bytes) -> bool:
        """Say whether this request fails, and count it."""
        raw = self.raw
        wanted = (raw["verb"], raw["resource"], raw.get("subresource", ""))
        if wanted != (verb, key[0], subresource) or raw.get("name", key[2]) != key[2]:
            return False
        if raw.get("contains", "") not in body.decode():
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
        meta = {"resourceVersion": FIRST_VERSION, **item["metadata"]}
        stored = {**item, "metadata": meta}
        self.objects[key_of(item)] = stored
        return stored

    def remove(self, key: Key) -> Json | None:
        return self.objects.pop(key, None)

    def of(self, resource: str) -> list[Json]:
        return [item for key, item in self.objects.items() if key[0] == resource]

    def get(self, key: Key) -> Json:
        self._fail("get", key, "", b"")
        return self._stored(key)

    def write(self, verb: str, key: Key, body: bytes, *, subresource: str = "", patch_type: str = "") -> Json:
        """Take a patch or a creation below an object, log it, and return the object as it is then."""
        resource, namespace, name = key
        entry: Json = {"verb": verb, "resource": resource, "name": name, "body": orjson.loads(body)}
        optional = {"namespace": namespace, "subresource": subresource, "patch_type": patch_type}
        entry.update((member, text) for member, text in optional.items() if text)
        if resource == EVENTS and key in self.objects:
            entry["of"] = self.objects[key]["reason"]
        self.writes.append(entry)
        try:
            self._fail(verb, key, subresource, body)
        except errors.ApiError:
            entry["failed"] = True
            raise
        stored = self._stored(key)
        if verb == "patch":
            stored = self.objects[key] = _merged(stored, entry["body"])
            stored["metadata"]["resourceVersion"] = FIRST_VERSION
        return stored

    def create_event(self, body: bytes) -> Json:
        """Create an Event; the log of writes has it like any other."""
        event: Json = orjson.loads(body)
        key = (EVENTS, event["metadata"]["namespace"], event["metadata"]["name"])
        self.objects[key] = event
        return self.write("create", key, body)

    def _stored(self, key: Key) -> Json:
        found = self.objects.get(key)
        if found is None:
            raise errors.status_error(404, f'{key[0]} "{key[2]}" not found')
        return found

    def _fail(self, verb: str, key: Key, subresource: str, body: bytes) -> None:
        for fault in self.faults:
            if fault.strikes(verb, key, subresource, body):
                raise errors.status_error(fault.raw["code"], fault.raw["message"])


class MemoryClient(KubeClient):
    """The adapters' client, without a network. Throttling is left out: nobody measures time here."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def throttled(self, throttle: Throttle) -> "MemoryClient":
        return self

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> bytes:
        if path == paths.NODES:
            return orjson.dumps({"metadata": {}, "items": self._api.of(RESOURCES["Node"])})
        return orjson.dumps(self._api.get(_parsed(path)[0]))

    def send(
        self, method: str, *, path: str, body: bytes, content_type: str = JSON, accept: str = JSON
    ) -> bytes:
        if path.endswith(f"/{EVENTS}"):
            return orjson.dumps(self._api.create_event(body))
        key, subresource = _parsed(path)
        if method == "PATCH":
            found = self._api.write("patch", key, body, subresource=subresource, patch_type=content_type)
        else:
            found = self._api.write("create", key, body, subresource=subresource)
        return orjson.dumps(found)


def key_of(item: Json) -> Key:
    meta = item["metadata"]
    return RESOURCES[item["kind"]], meta.get("namespace", ""), meta["name"]


def _parsed(path: str) -> tuple[Key, str]:
    """Return key and subresource of ``/api/v1/nodes/x`` or ``/api/v1/namespaces/n/pods/x/binding``."""
    parts = [unquote(part) for part in path.removeprefix("/api/v1/").split("/")]
    if parts[0] != "namespaces":
        return (parts[0], "", parts[1]), ""
    return (parts[2], parts[1], parts[3]), parts[4] if len(parts) > 4 else ""


def _merged(target: Any, patch: Any) -> Any:
    """Return ``target`` with a merge patch applied (RFC 7396)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), value)
    return result
