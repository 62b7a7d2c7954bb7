"""The extender's door without a socket: the real bridge, URLs and views; the cluster behind it is fakes."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hami_site.bridge import Bridge
from scheduler_app import bootstrap, conf
from scheduler_app.bootstrap import Parts
from scheduler_app.core.types import Node, NodeName
from scheduler_app.engine.binding import Binder, BindPorts
from scheduler_app.engine.registration import cards_of
from scheduler_app.engine.reporting import Reporter
from scheduler_app.engine.scheduler import Scheduler
from tests.factories import make_node
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeLocks, FakeNodes, FakePods, FakePodWriter
from tests.fakes.told import FakeEvents

URLCONF = "scheduler_app.extender.urls"
JSON = {"content-type": "application/json"}
GPU, MEM = "nvidia.com/gpu", "nvidia.com/gpumem"
CONFIG = """
nvidia: {resourceCountName: nvidia.com/gpu, resourceMemoryName: nvidia.com/gpumem, defaultGPUNum: 1,
  resourceMemoryPercentageName: nvidia.com/gpumem-percentage, resourceCoreName: nvidia.com/gpucores,
  resourcePriorityName: nvidia.com/priority}
cambricon: {resourceCountName: cambricon.com/vmlu}
"""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json()["Error"])


@dataclass
class Exchange:
    """One HTTP exchange as an ASGI server drives it. ``chunks`` None is a client that goes away."""

    method: str
    path: str
    chunks: Sequence[bytes | None] = (b"",)
    headers: Mapping[str, str] = field(default_factory=lambda: JSON)

    async def with_app(self, app: Any) -> Answer | None:
        """Return the answer, None when nothing was sent."""
        sent: list[Mapping[str, Any]] = []
        waiting = list(self.chunks)

        async def receive() -> Mapping[str, Any]:
            if not waiting:
                await asyncio.Event().wait()  # the client has sent everything and waits
            chunk = waiting.pop(0)
            if chunk is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": chunk, "more_body": bool(waiting)}

        async def send(message: Mapping[str, Any]) -> None:
            sent.append(message)

        await app(self._scope(), receive, send)
        return _answer(sent, is_head=self.method == "HEAD") if sent else None

    def _scope(self) -> dict[str, Any]:
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        path, _, query = self.path.partition("?")
        return {
            "type": "http",
            "http_version": "1.1",
            "scheme": "http",
            "method": self.method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(b"host", b"localhost"), *headers],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }


def _answer(sent: Sequence[Mapping[str, Any]], *, is_head: bool) -> Answer:
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    assert not body if is_head else headers["content-length"] == str(len(body))
    return Answer(sent[0]["status"], headers, body)


class Door:
    """The bridge with the process's parts; ``writer``, ``locks`` and ``events`` stand for the API server."""

    def __init__(self, *, config: str = CONFIG, **flags: Any) -> None:
        conf.set_flags(KUBE_API="http://127.0.0.1:9", DEVICE_CONFIG_TEXT=config, **flags)
        built = bootstrap.build()
        self.writer, self.events, self.locks = FakePodWriter(), FakeEvents(), FakeLocks()
        self.pods, self.nodes, self.clock = FakePods(), FakeNodes(), FakeClock()
        self.parts = replace(built, scheduler=self._scheduler(built), binder=self._binder(built))
        bootstrap.install(self.parts)
        self.bridge = Bridge(URLCONF)
        self.parts.leadership.set_synced()

    def close(self) -> None:
        self.bridge.shutdown()
        bootstrap.install(None)
        conf.clear_flags()

    def _scheduler(self, built: Parts) -> Scheduler:
        return Scheduler(
            backends=built.devices.backends,
            state=built.state,
            writer=self.writer,
            reporter=Reporter(events=self.events, log=built.binder._ports.log),
            config=built.config,
            clock=self.clock,
        )

    def _binder(self, built: Parts) -> Binder:
        ports = BindPorts(
            self.pods, self.nodes, self.locks, self.writer, self.events, built.binder._ports.log
        )
        return Binder(
            backends=built.devices.backends,
            state=built.state,
            ports=ports,
            turns=built.turns,
            config=built.config,
            clock=self.clock,
        )

    def register(self, node: Node) -> None:
        self.parts.state.merge_node(node, cards_of(node, self.parts.devices.backends))
        self.nodes.seen[NodeName(node.name)] = node

    def ask(self, method: str, path: str, *chunks: bytes | None, headers: Mapping[str, str] = JSON) -> Answer:
        answer = asyncio.run(Exchange(method, path, chunks or (b"",), headers).with_app(self.bridge))
        assert answer is not None
        return answer

    def post(self, path: str, body: Any) -> Answer:
        """Post JSON, or bytes as they are."""
        return self.ask("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode())


def gpu_node(name: str, *ids: str, mem_mib: int = 8000) -> Node:
    """Return a node that advertises NVIDIA cards."""
    return make_node(name, annotations={"hami.io/node-nvidia-register": register_text(*ids, mem_mib=mem_mib)})


def register_text(*ids: str, mem_mib: int = 8000) -> str:
    cards = [
        {"id": id, "count": 10, "devmem": mem_mib, "devcore": 100, "type": "NVIDIA-X", "health": True}
        for id in ids
    ]
    return json.dumps(cards)


def pod_json(name: str = "p", mem: int | None = 1000, **meta: Any) -> dict[str, Any]:
    """Return a pod that asks for a card; ``mem`` None asks for nothing."""
    limits = {} if mem is None else {GPU: "1", MEM: str(mem)}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **meta},
        "spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]},
    }


def node_json(name: str, *ids: str) -> dict[str, Any]:
    annotations = {"hami.io/node-nvidia-register": register_text(*ids)} if ids else {}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": {"future": 1}}
