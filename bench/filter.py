"""``/filter``: over HTTP with keep-alive against the product's own process, and inside this process.

``first`` is the first call of a request nobody made before, over HTTP: no outcome is remembered for it yet.
The other calls are all different pods with the same request, as a Deployment or a Job makes them; each one
that fits changes a node.
"""

import argparse
import time
from dataclasses import asdict, dataclass

import orjson

from bench import report, stubapi
from bench.client import Client
from bench.product import Product
from bench.scene import Scene, dumps

WARM_UP = 20
FIRSTS = 5


@dataclass(frozen=True)
class Calls:
    """The bodies of a run, as kube-scheduler sends them."""

    scene: Scene
    candidates: int
    fits: bool = True
    plain: bool = False

    def bodies(self, count: int, *, start: int = 0, team: str = "bench") -> list[bytes]:
        names = b',"Nodes":null,"NodeNames":' + dumps(self.scene.names(self.candidates)) + b"}"
        return [b'{"Pod":' + self._pod(start + n, team) + names for n in range(count)]

    def _pod(self, number: int, team: str) -> bytes:
        pod = self.scene.asking(number, fits=self.fits, plain=self.plain)
        pod["metadata"]["annotations"]["team"] = team
        return dumps(pod)


def over_http(calls: Calls, requests: int, *, echo: bool) -> dict[str, float]:
    with stubapi.running(calls.scene, echo=echo) as url, Product(url) as product:
        product.wait_idle()
        with Client(product.extender) as client:
            _expect(client, calls)
            for body in calls.bodies(WARM_UP, start=1000):
                _post(client, body)
            bodies = calls.bodies(requests, start=10_000)
            cpu = product.cpu_seconds
            times = [_post(client, body) for body in bodies]
            cpu = product.cpu_seconds - cpu
            firsts = [_post(client, _new(calls, n)) for n in range(FIRSTS)]
        return {
            "median_ms": report.median(times),
            "p99_ms": report.p99(times),
            "cpu_ms": cpu * 1000 / requests,
            "first_ms": report.median(firsts),
            "rss_mib": product.rss_mib,
        }


def _new(calls: Calls, number: int) -> bytes:
    return calls.bodies(1, start=number, team=f"first-{number}")[0]


def _expect(client: Client, calls: Calls) -> None:
    """See once that the product does what is measured: it places, refuses, or lets a plain pod pass."""
    body = calls.bodies(1, start=FIRSTS, team="expect")[0]
    found = len(orjson.loads(client.post("/filter", body).body)["NodeNames"] or ())
    expected = calls.candidates if calls.plain else int(calls.fits)
    if found != expected:
        raise RuntimeError(f"/filter named {found} nodes instead of {expected}: is the vendor enabled?")


def _post(client: Client, body: bytes) -> float:
    start = time.perf_counter()
    answer = client.post("/filter", body)
    elapsed = (time.perf_counter() - start) * 1000
    if answer.status != 200 or b'"Error":""' not in answer.body:
        raise RuntimeError(f"/filter answered {answer.status}: {answer.body[:300]!r}")
    return elapsed


def in_process(calls: Calls, requests: int) -> dict[str, float]:
    from bench.inprocess import engine
    from scheduler_app.extender import wire

    scheduler = engine(calls.scene).scheduler
    times = []
    for body in calls.bodies(WARM_UP + requests):
        start = time.perf_counter()
        args = wire.parse_filter(body)
        orjson.dumps(wire.filter_result(scheduler.filter(args.pod, names=args.names), args))
        times.append((time.perf_counter() - start) * 1000)
    return {"inprocess_first_ms": times[0], "inprocess_median_ms": report.median(times[WARM_UP:])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--gpus", type=int, default=8, help="cards of a node")
    parser.add_argument("--pods", type=int, default=1000, help="pods that hold cards already")
    parser.add_argument("--candidates", type=int, default=0, help="names in a call; 0: all nodes")
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--shapes", type=int, default=1, help="different nodes before any pod")
    parser.add_argument("--vendor", default="nvidia")
    parser.add_argument("--nofit", action="store_true", help="no node can serve the request")
    parser.add_argument("--plain-pod", action="store_true", help="the pod asks for no card")
    parser.add_argument("--echo", action="store_true", help="the API server's watch tells each patched pod")
    args = parser.parse_args()
    scene = Scene(args.nodes, args.gpus, args.pods, args.shapes, args.vendor)
    calls = Calls(scene, args.candidates or args.nodes, not args.nofit, args.plain_pod)
    figures = over_http(calls, args.requests, echo=args.echo) | in_process(calls, args.requests)
    shown = {"candidates": calls.candidates, "requests": args.requests, "echo": args.echo}
    fits = {"fits": calls.fits, "plain": calls.plain}
    report.told("filter", {**asdict(scene), **shown, **fits}, figures)


if __name__ == "__main__":
    main()
