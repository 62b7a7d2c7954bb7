"""Nodes, pods and events behind a scripted server: enough of an API server for locks, patches and Events."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.kube.scripted_server import Reply, Request, answering, failing

Json = dict[str, Any]


@dataclass
class Fault:
    """Answers matching requests with ``status``: after ``skip`` of them, ``times`` times."""

    method: str
    path: str
    status: int = 500
    message: str = "no"
    times: int = 1_000_000
    skip: int = 0
    contains: str = ""

    def strikes(self, request: Request) -> bool:
        is_meant = request.method == self.method and self.path in request.path
        if not is_meant or self.contains not in request.body.decode():
            return False
        self.skip -= 1
        if self.skip >= 0 or self.times <= 0:
            return False
        self.times -= 1
        return True


@dataclass
class TinyApi:
    """``objects`` by path. ``writes`` is all that was sent; ``before`` runs ahead of each request."""

    objects: dict[str, Json] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    before: Callable[[Request], None] | None = None
    writes: list[Request] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)

    def add_node(self, name: str, **annotations: str) -> None:
        self._add(f"/api/v1/nodes/{name}", {"name": name, "annotations": annotations})

    def add_pod(self, namespace: str, name: str) -> None:
        self._add(f"/api/v1/namespaces/{namespace}/pods/{name}", {"name": name, "namespace": namespace})

    def annotate(self, name: str, **annotations: str | None) -> None:
        """Change a node as somebody else would."""
        self._merge(f"/api/v1/nodes/{name}", {"metadata": {"annotations": annotations}})

    def annotations(self, name: str) -> dict[str, str]:
        return dict(self.objects[f"/api/v1/nodes/{name}"]["metadata"]["annotations"])

    def bodies(self) -> list[Any]:
        return [request.json for request in self.writes]

    def __call__(self, request: Request) -> Reply:
        if self.before is not None:
            self.before(request)
        self.asked[request.method] += 1
        if request.method != "GET":
            self.writes.append(request)
        for fault in self.faults:
            if fault.strikes(request):
                return failing(fault.status, fault.message)
        return getattr(self, f"_{request.method.lower()}")(request)  # type: ignore[no-any-return]  # by name

    def _get(self, request: Request) -> Reply:
        found = self.objects.get(request.path)
        return answering(found) if found is not None else _not_found(request.path)

    def _patch(self, request: Request) -> Reply:
        found = self.objects.get(request.path)
        if found is None:
            return _not_found(request.path)
        wanted = request.json.get("metadata", {}).get("resourceVersion")
        if wanted not in (None, found["metadata"].get("resourceVersion")):
            return failing(409, "the object has been modified", reason="Conflict")
        return answering(self._merge(request.path, request.json))

    def _post(self, request: Request) -> Reply:
        if request.path.endswith("/events"):
            body = request.json
            path = f"{request.path}/{body['metadata']['name']}"
            if path in self.objects:
                return failing(409, "already exists", reason="AlreadyExists")
            self.objects[path] = body
        return answering({"kind": "Status", "status": "Success"}, status=201)

    def _add(self, path: str, metadata: Json) -> None:
        self.objects[path] = {"metadata": {"resourceVersion": "100", **metadata}}

    def _merge(self, path: str, patch: Json) -> Json:
        found: Json = merged(self.objects[path], patch)
        metadata = found["metadata"]
        metadata["resourceVersion"] = str(int(metadata.get("resourceVersion", "1")) + 1)
        self.objects[path] = found
        return found


def merged(target: Any, patch: Any) -> Any:
    """Return ``target`` with a merge patch applied (RFC 7396)."""
    if not isinstance(patch, dict):
        return json.loads(json.dumps(patch))
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _not_found(path: str) -> Reply:
    *_, resource, name = path.split("/")
    return failing(404, f'{resource} "{name}" not found', reason="NotFound")
