"""Pods created at once until all are bound, on the embedded cluster, whose scheduler binds concurrently."""

import argparse
import time

from bench import report
from bench.product import Product
from bench.scene import pod
from simcluster.cluster import Cluster, Settings

TIMEOUT_SECONDS = 300.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pods", type=int, default=500)
    parser.add_argument("--allocate-seconds", type=float, default=0.5, help="what a device plugin needs")
    options = parser.parse_args()
    port = Product("").extender  # a free port, for the scheduler to know before the product starts
    settings = Settings(
        fleet=f"nvidia/a100:{options.nodes}x8",
        extender_url=f"http://127.0.0.1:{port}",
        workload=False,
        allocate_seconds=options.allocate_seconds,
        pod_seconds=None,
    )
    with Cluster(settings) as cluster:
        product = Product(cluster.url)
        product.extender = port
        with product:
            product.wait_ready()
            cpu = product.cpu_seconds
            started = time.monotonic()
            for number in range(options.pods):
                body = pod(f"burst-{number}", {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "20000"})
                body["metadata"] = {"name": f"burst-{number}", "namespace": "default"}
                cluster.api.create("pods", body)
            seconds = _until_bound(cluster, options.pods, started)
            cpu = product.cpu_seconds - cpu
            refused = _refused(cluster)
    figures = {
        "median_ms": seconds * 1000,
        "p99_ms": None,
        "cpu_ms": cpu * 1000 / options.pods,
        "binds_refused": float(refused),
    }
    report.told("burst", {"nodes": options.nodes, "pods": options.pods}, figures)


def _until_bound(cluster: Cluster, count: int, started: float) -> float:
    while time.monotonic() < started + TIMEOUT_SECONDS:
        bound = sum(bool(item["spec"].get("nodeName")) for item in cluster.api.list("pods"))
        if bound >= count:
            return time.monotonic() - started
        time.sleep(0.25)
    raise TimeoutError("not all pods were bound")


def _refused(cluster: Cluster) -> int:
    """Return how many binds failed, as the Events count them."""
    events = [item for item in cluster.api.list("events") if item.get("reason") == "BindingFailed"]
    return sum(int(item.get("count") or 1) for item in events)


if __name__ == "__main__":
    main()
