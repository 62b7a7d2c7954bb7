"""A stand-in for the product: the smallest extender and webhook that obey the annotation protocol."""

import base64
import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import urllib3

from simcluster.cluster import Cluster

Json = dict[str, Any]
MERGE = {"Content-Type": "application/merge-patch+json"}
REGISTER, LOCK = "hami.io/node-nvidia-register", "hami.io/mutex.lock"


class TinyExtender:
    """Gives each container cards or shares on the first node with room; ``calls`` counts by path."""

    def __init__(self) -> None:
        self.cluster: Cluster | None = None
        self.calls: dict[str, int] = {}
        self.error = ""
        self.denial = ""
        self._used: dict[str, dict[str, dict[str, int]]] = {}
        self._mutex = threading.Lock()
        self._http = urllib3.PoolManager(maxsize=8, retries=False)
        self._server = _QuietServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._http.clear()

    def answer(self, path: str, body: Json) -> Json:
        name = path.partition("?")[0]
        self.calls[name] = self.calls.get(name, 0) + 1
        if name == "/webhook":
            return self._review(body)
        if self.error:
            return {"Error": self.error}
        with self._mutex:
            return self._filter(body) if name == "/filter" else self._bind(body)

    def patch(self, path: str, body: Json) -> int:
        assert self.cluster is not None
        return self._http.request(
            "PATCH", self.cluster.url + path, body=json.dumps(body), headers=MERGE
        ).status

    def _filter(self, body: Json) -> Json:
        pod, failed = body["Pod"], {}
        assert self.cluster is not None
        self._forget_ended()
        for name in body["NodeNames"]:
            text = self._place(name, pod)
            if text:
                self._write(pod, name, text)
                return {"NodeNames": [name], "Error": ""}
            failed[name] = "CardInsufficientMemory"
        return {"NodeNames": [], "FailedNodes": failed, "Error": ""}

    def _forget_ended(self) -> None:
        assert self.cluster is not None
        alive = {
            pod["metadata"]["uid"]
            for pod in self.cluster.api.list("pods", fields="status.phase!=Succeeded,status.phase!=Failed")
        }
        for node in self._used.values():
            for uid in [uid for uid in node if uid not in alive]:
                del node[uid]

    def _place(self, node: str, pod: Json) -> str:
        assert self.cluster is not None
        cards = json.loads(self.cluster.api.get("nodes", node)["metadata"]["annotations"][REGISTER])
        pods = self._used.setdefault(node, {})
        mine: dict[str, int] = {}
        parts = []
        for container in pod["spec"]["containers"]:
            limits = container["resources"].get("limits") or {}
            count = int(limits.get("nvidia.com/gpu", 0))
            chosen: list[str] = []
            for card in cards:
                wanted = _need(limits, card["devmem"])
                used = sum(taken.get(card["id"], 0) for taken in pods.values()) + mine.get(card["id"], 0)
                if len(chosen) < count and used + wanted <= card["devmem"]:
                    mine[card["id"]] = mine.get(card["id"], 0) + wanted
                    chosen.append(f"{card['id']},NVIDIA,{wanted},0:")
            if len(chosen) < count:
                return ""
            parts.append("".join(chosen) + ";")
        pods[pod["metadata"]["uid"]] = mine
        return "".join(parts)

    def _write(self, pod: Json, node: str, text: str) -> None:
        notes = {
            "hami.io/vgpu-node": node,
            "hami.io/vgpu-time": str(int(time.time())),
            "hami.io/vgpu-devices-to-allocate": text,
            "hami.io/vgpu-devices-allocated": text,
        }
        self.patch(_path(pod["metadata"]["namespace"], pod["metadata"]["name"]), _noted(notes))

    def _bind(self, body: Json) -> Json:
        assert self.cluster is not None
        namespace, name, node = body["PodNamespace"], body["PodName"], body["Node"]
        meta = self.cluster.api.get("nodes", node)["metadata"]
        if LOCK in (meta.get("annotations") or {}):
            return {"Error": f"node {node} has been locked within 5m0s: node lock contention"}
        value = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())},{namespace},{name}"
        lock = {"resourceVersion": meta["resourceVersion"], "annotations": {LOCK: value}}
        if self.patch(f"/api/v1/nodes/{node}", {"metadata": lock}) != 200:
            return {"Error": "node lock contention"}
        notes = {"hami.io/bind-phase": "allocating", "hami.io/bind-time": str(int(time.time()))}
        self.patch(_path(namespace, name), _noted(notes))
        binding = {
            "metadata": {"name": name, "uid": body["PodUID"]},
            "target": {"kind": "Node", "name": node},
        }
        url = self.cluster.url + _path(namespace, name) + "/binding"
        status = self._http.request("POST", url, body=json.dumps(binding)).status
        return {"Error": "" if status == 201 else f"binding refused with {status}"}

    def _review(self, body: Json) -> Json:
        pod, patch = body["request"]["object"], []
        if any("nvidia.com/gpu" in (c["resources"].get("limits") or {}) for c in pod["spec"]["containers"]):
            patch.append({"op": "replace", "path": "/spec/schedulerName", "value": "hami-scheduler"})
        response: Json = {"uid": body["request"]["uid"], "allowed": not self.denial, "warnings": ["tiny"]}
        if self.denial:
            response["status"] = {"message": self.denial, "code": 403, "reason": "Forbidden"}
        elif patch:
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
        return {"kind": "AdmissionReview", "apiVersion": body["apiVersion"], "response": response}


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing when a test's cluster stops in the middle of a call."""


def _need(limits: Json, total: int) -> int:
    if "nvidia.com/gpumem" in limits:
        amount = limits["nvidia.com/gpumem"]
        return int(amount[:-1]) * 1000 if amount.endswith("k") else int(amount)
    return total * int(limits.get("nvidia.com/gpumem-percentage", 100)) // 100


def _noted(notes: dict[str, str]) -> Json:
    return {"metadata": {"annotations": notes}}


def _path(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


def _handler_for(extender: TinyExtender) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            raw = json.dumps(extender.answer(self.path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test output clean."""

    return Handler
