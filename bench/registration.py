"""A registration pass over nodes that do not change, as it runs every 15 s beside filter calls."""

import argparse
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from bench import report
from bench.inprocess import Nobody, shipped_backends
from bench.scene import Scene, dumps
from scheduler_app.core.ports import Annotations
from scheduler_app.core.types import Node, NodeName
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.nodewrites import NodeWrites
from scheduler_app.engine.registration import Registrar
from scheduler_app.kube import decode


class Nodes:
    """The informer's copy, and an API server that knows every node and takes every write."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = {node.name: node for node in nodes}

    def get(self, name: NodeName) -> Node | None:
        return self._nodes.get(name)

    def list(self) -> list[Node]:
        return list(self._nodes.values())

    def ask_for(self, names: Collection[NodeName]) -> Mapping[NodeName, str]:
        return {}

    def patch_node(self, name: NodeName, annotations: Annotations) -> None:
        """Nothing is to be written to nodes that were asked before."""

    def label_pod(self, *, namespace: str, name: str, labels: Annotations) -> None:
        """No role is to be told."""


def registrar(scene: Scene) -> Registrar:
    backends = shipped_backends()
    nodes = Nodes([decode.decode_node(dumps(raw)) for raw in scene.all_nodes()])
    return Registrar(
        backends=backends,
        state=ClusterState(backends),
        nodes=nodes,
        writer=nodes,
        writes=NodeWrites(nodes),
        events=Nobody(),
        selector={},
        now=datetime.now,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--vendor", default="nvidia")
    parser.add_argument("--passes", type=int, default=15)
    args = parser.parse_args()
    scene = Scene(nodes=args.nodes, vendor=args.vendor)
    made, times, cpu = registrar(scene), list[float](), list[float]()
    for _ in range(args.passes + 1):
        start, cpu_start = time.perf_counter(), time.thread_time()
        made.run_pass()
        times.append((time.perf_counter() - start) * 1000)
        cpu.append((time.thread_time() - cpu_start) * 1000)
    later = {"median_ms": report.median(times[1:]), "p99_ms": report.p99(times[1:])}
    figures = {"first_ms": times[0], **later, "cpu_ms": report.median(cpu[1:])}
    report.told("registration", {**asdict(scene), "passes": args.passes}, figures)


if __name__ == "__main__":
    main()
