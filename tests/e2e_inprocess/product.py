"""The product in this process, on the embedded cluster: the same threads, doors and HTTP as in the demo."""

import http.client
import json
import socket
import threading
from types import TracebackType
from typing import Any, Self

from scheduler_app import bootstrap, conf
from scheduler_app.bootstrap import Parts
from scheduler_app.serving import EXTENDER, METRICS, Bind, DoorThread
from scheduler_app.threads import TABLE, ThreadGroup
from simcluster.cluster import Cluster, Settings
from tests.extender.door import CONFIG, GPU, MEM
from tests.waiting import wait_until

SCHEDULER = "hami-scheduler"
Json = dict[str, Any]


def free_port() -> int:
    """Return a port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Product:
    """All threads but history, and the doors but the console's."""

    def __init__(self, api_url: str, *, extender_port: int = 0, **flags: Any) -> None:
        self.port = extender_port or free_port()
        self.metrics_port = free_port()
        values = {
            "KUBE_API": api_url,
            "DEVICE_CONFIG_TEXT": CONFIG,
            "LIVE_PUBLISHER": "tests.fakes.told.FakeLive",
            "scheduler_name": SCHEDULER,
            "kube_qps": 500.0,
            "kube_burst": 500,
            **flags,
        }
        conf.set_flags(**values)
        self.parts: Parts = bootstrap.build()
        bootstrap.install(self.parts)
        table = [spec for spec in TABLE if spec.name != "history"]
        doors = [
            ("extender", DoorThread(Bind(EXTENDER, f"127.0.0.1:{self.port}"))),
            ("metrics", DoorThread(Bind(METRICS, f"127.0.0.1:{self.metrics_port}"))),
        ]
        self.threads = ThreadGroup(table, self.parts, more=doors)

    def __enter__(self) -> Self:
        self.threads.start()
        wait_until(lambda: self.get("/healthz")[0] == 200)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.parts.turns.stop()
        self.threads.stop()
        bootstrap.install(None)
        conf.clear_flags()

    def get(self, path: str, *, port: int = 0) -> tuple[int, str]:
        """Return status and body; 0 while nobody listens."""
        return self.call("GET", path, port=port)

    def post(self, path: str, body: Any) -> Json:
        found: Json = json.loads(self.call("POST", path, body)[1])
        return found

    def call(self, method: str, path: str, body: Any = None, *, port: int = 0) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=10)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        except ConnectionError:
            return 0, ""
        finally:
            connection.close()

    def wait_ready(self) -> None:
        wait_until(lambda: self.get("/readyz")[0] == 200)

    def used(self) -> int:
        """Return the MiB in use on all cards."""
        nodes = self.parts.state.everything().values()
        return sum(card.mem_used_mib for node in nodes for card in node.cards)


def cluster_for(extender_port: int, *, fleet: str = "nvidia:2x2", **settings: Any) -> Cluster:
    """Return a cluster that calls the product at a port; its pods never end by themselves."""
    url = f"http://127.0.0.1:{extender_port}"
    values = {
        "fleet": fleet,
        "workload": False,
        "allocate_seconds": 0.01,
        "pod_seconds": None,
        "extender_url": url,
        "webhook_url": f"{url}/webhook",
        **settings,
    }
    return Cluster(Settings(**values))


def gpu_pod(name: str = "trainer", *, mem: int = 1000, cards: int = 1, **meta: Any) -> Json:
    limits = {GPU: str(cards), MEM: str(mem)}
    return {
        "metadata": {"name": name, "namespace": "default", **meta},
        "spec": {"containers": [{"name": "main", "image": "x", "resources": {"limits": limits}}]},
    }


def phase(cluster: Cluster, name: str = "trainer") -> str:
    pod = cluster.api.find("pods", f"default/{name}")
    return str(pod["status"].get("phase")) if pod else "gone"


def threads_named(*names: str) -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name in names]
