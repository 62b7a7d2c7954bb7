"""From the start of the process to the first placed pod, with the API full; and the memory it then takes."""

import argparse
import time

from bench import report, stubapi
from bench.client import Client
from bench.filter import Calls
from bench.product import Product
from bench.scene import Scene


def once(scene: Scene) -> tuple[float, float]:
    """Return seconds to the first placed pod, and MiB."""
    body = Calls(scene, scene.nodes).bodies(1)[0]
    with stubapi.running(scene) as url, Product(url) as product:
        product.wait_ready()
        with Client(product.extender) as client:
            answer = client.post("/filter", body)
        seconds = time.monotonic() - product.started
        if b'"Error":""' not in answer.body:
            raise RuntimeError(f"/filter answered {answer.body[:300]!r}")
        return seconds, product.rss_mib


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-handshake", action="store_true", help="no node carries a handshake yet")
    options = parser.parse_args()
    scene = Scene(options.nodes, 8, options.pods, handshake=not options.no_handshake)
    runs = [once(scene) for _ in range(options.runs)]
    seconds = [run[0] for run in runs]
    figures = {
        "median_ms": report.median(seconds) * 1000,
        "p99_ms": max(seconds) * 1000,
        "cpu_ms": None,
        "rss_mib": report.median([run[1] for run in runs]),
    }
    shown = {"nodes": options.nodes, "pods": options.pods, "handshake": scene.handshake}
    report.told("startup", {**shown, "runs": options.runs}, figures)


if __name__ == "__main__":
    main()
