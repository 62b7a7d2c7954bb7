"""A scrape of ``/metrics``, first and unchanged, and what scrapes without a pause do to ``/filter``."""

import argparse
import multiprocessing
import time

from bench import report, stubapi
from bench.client import Client
from bench.filter import Calls
from bench.product import Product
from bench.scene import Scene


def scrape(client: Client) -> tuple[float, int]:
    start = time.perf_counter()
    answer = client.get("/metrics")
    if answer.status != 200:
        raise RuntimeError(f"/metrics answered {answer.status}")
    return (time.perf_counter() - start) * 1000, len(answer.body)


def filter_times(client: Client, bodies: list[bytes]) -> list[float]:
    found = []
    for body in bodies:
        start = time.perf_counter()
        client.post("/filter", body)
        found.append((time.perf_counter() - start) * 1000)
    return found


def scrape_without_pause(port: int) -> None:
    with Client(port) as client:
        while True:
            scrape(client)


def meanwhile(product: Product, client: Client, bodies: list[bytes]) -> list[float]:
    """Return the times of ``/filter`` while somebody scrapes without a pause, in a process of its own.

    A thread of this process that reads tens of megabytes would show in the times taken here.
    """
    scraper = multiprocessing.Process(target=scrape_without_pause, args=(product.metrics,))
    scraper.start()
    try:
        return filter_times(client, bodies)
    finally:
        scraper.terminate()
        scraper.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    scene = Scene(options.nodes, 8, options.pods)
    calls = Calls(scene, min(options.nodes, 100))
    with stubapi.running(scene) as url, Product(url) as product:
        product.wait_idle()
        with Client(product.metrics) as client:
            first, size = scrape(client)
            again = [scrape(client)[0] for _ in range(10)]
        with Client(product.extender) as client:
            filter_times(client, calls.bodies(20))
            alone = filter_times(client, calls.bodies(options.requests, start=1000))
            scraped = meanwhile(product, client, calls.bodies(options.requests, start=5000))
    figures = {
        "first_ms": first,
        "median_ms": report.median(again),
        "p99_ms": report.p99(again),
        "text_mib": size / 1024 / 1024,
        "filter_p99_alone_ms": report.p99(alone),
        "filter_p99_scraped_ms": report.p99(scraped),
    }
    report.told("metrics", {"nodes": options.nodes, "pods": options.pods}, figures)


if __name__ == "__main__":
    main()
