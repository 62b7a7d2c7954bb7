"""``/webhook`` over HTTP with keep-alive: a pod of one container, and a big one of twenty."""

import argparse
import time

from bench import report, stubapi
from bench.client import Client
from bench.product import Product
from bench.scene import Scene, dumps, pod

WARM_UP = 20
BIG = 20


def review(containers: int) -> bytes:
    """Return an AdmissionReview as the API server sends it for HAMi's webhook (K2.1-3)."""
    asked = pod("bench", {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "2000"})
    asked["spec"].pop("schedulerName", None)
    first = asked["spec"]["containers"][0]
    asked["spec"]["containers"] = [{**first, "name": f"c{n}"} for n in range(containers)]
    request = {"uid": "uid", "namespace": "default", "operation": "CREATE", "object": asked}
    return dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1", "request": request})


def times_of(client: Client, body: bytes, requests: int) -> list[float]:
    found = []
    for _ in range(WARM_UP + requests):
        start = time.perf_counter()
        answer = client.post("/webhook", body)
        found.append((time.perf_counter() - start) * 1000)
        if answer.status != 200 or b'"allowed":true' not in answer.body:
            raise RuntimeError(f"/webhook answered {answer.status}: {answer.body[:300]!r}")
    return found[WARM_UP:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=500)
    options = parser.parse_args()
    with stubapi.running(Scene(10, 8, 0)) as url, Product(url) as product:
        product.wait_idle()
        with Client(product.extender) as client:
            cpu = product.cpu_seconds
            one = times_of(client, review(1), options.requests)
            cpu = product.cpu_seconds - cpu
            big = times_of(client, review(BIG), options.requests)
    figures = {
        "median_ms": report.median(one),
        "p99_ms": report.p99(one),
        "cpu_ms": cpu * 1000 / (options.requests + WARM_UP),
        "big_median_ms": report.median(big),
        "big_p99_ms": report.p99(big),
    }
    report.told("admission", {"requests": options.requests, "big_containers": BIG}, figures)


if __name__ == "__main__":
    main()
