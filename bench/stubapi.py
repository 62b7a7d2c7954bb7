"""An API server of ready-made bytes, in a process of its own: lists in pages, watches, writes without effect.

It costs as little as possible, so that what is measured is the product. Run: ``python -m bench.stubapi``;
the first line it prints is its port. Other benchmarks start it with ``running``.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from urllib.parse import parse_qs, urlsplit

import orjson

from bench import scene as scenes
from bench.scene import Scene, dumps

VERSION = "1000000"
_KINDS = {"nodes": "NodeList", "pods": "PodList", "resourcequotas": "ResourceQuotaList"}
_ANSWER = b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
_CREATED = dumps({"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201})


class Content:
    """The objects as bytes, made once before the server opens."""

    def __init__(self, scene: Scene) -> None:
        self._nodes = [dumps(node) for node in scene.all_nodes()]
        self._pods = [dumps(pod) for pod in scene.all_pods()]
        self.pod = dumps(scene.asking(0))
        self._by_name = {scenes.node_name(n): node for n, node in enumerate(self._nodes)}

    def node(self, name: str) -> bytes:
        return self._by_name[name]

    def page(self, plural: str, *, limit: int, start: int) -> bytes:
        items = {"nodes": self._nodes, "pods": self._pods}.get(plural, [])
        end = start + limit if limit else len(items)
        meta = {"resourceVersion": VERSION} | ({"continue": str(end)} if end < len(items) else {})
        head = b'{"kind":"%s","apiVersion":"v1","metadata":%s,"items":[' % (
            _KINDS[plural].encode(),
            dumps(meta),
        )
        return head + b",".join(items[start:end]) + b"]}"


class Connection(asyncio.Protocol):
    """One connection, requests one after the other. ``echo`` tells each patched pod to the pods' watches."""

    watches: dict[str, set[asyncio.Transport]] = {}

    def __init__(self, content: Content, *, echo: bool) -> None:
        self._content = content
        self._echo = echo
        self._held = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  (TCP connections have this one)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        for watching in self.watches.values():
            watching.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._held += data
        while True:
            head, found, rest = self._held.partition(b"\r\n\r\n")
            if not found:
                return
            length = _content_length(head)
            if len(rest) < length:
                return
            self._held = rest[length:]
            method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
            self._serve(method, target, rest[:length])

    def _serve(self, method: str, target: str, body: bytes) -> None:
        url = urlsplit(target)
        parts, query = url.path.strip("/").split("/"), parse_qs(url.query)
        if method == "GET" and "watch" in query:
            self.watches.setdefault(parts[-1], set()).add(self._transport)
            self._transport.write(_STREAM)
        elif method == "GET" and parts[-1] in _KINDS:
            limit, start = int(query.get("limit", ["0"])[0]), int(query.get("continue", ["0"])[0])
            self._answer(200, self._content.page(parts[-1], limit=limit, start=start))
        elif parts[-2] == "nodes":
            self._answer(200, self._content.node(parts[-1]))
        elif method == "PATCH" and parts[-2] == "pods":
            self._answer(200, self._content.pod)
            if self._echo:
                self._tell(parts[-1], body)
        else:
            self._answer(201, _CREATED)

    def _tell(self, name: str, patch: bytes) -> None:
        pod = orjson.loads(self._content.pod)
        meta = orjson.loads(patch)["metadata"]
        merged = {**pod["metadata"]["annotations"], **meta.get("annotations", {})}
        pod["metadata"] |= {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "2",
            "annotations": {key: text for key, text in merged.items() if text is not None},
        }
        line = orjson.dumps({"type": "MODIFIED", "object": pod}) + b"\n"
        for transport in self.watches.get("pods", ()):
            transport.write(b"%x\r\n%s\r\n" % (len(line), line))

    def _answer(self, status: int, body: bytes) -> None:
        self._transport.write(_ANSWER % (status, len(body)) + body)


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


@contextmanager
def running(scene: Scene, *, echo: bool = False) -> Iterator[str]:
    """Run the stub in another process and yield its URL once it answers."""
    command = [sys.executable, "-m", "bench.stubapi", json.dumps(asdict(scene)), *(["--echo"] * echo)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  (our own module)
    try:
        assert process.stdout is not None  # noqa: S101  (it is a pipe)
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()


async def _run(content: Content, *, echo: bool) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(content, echo=echo), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scene", help="a bench.scene.Scene as JSON")
    parser.add_argument("--echo", action="store_true", help="tell patched pods to the pods' watches")
    args = parser.parse_args()
    asyncio.run(_run(Content(Scene(**json.loads(args.scene))), echo=args.echo))


if __name__ == "__main__":
    main()
