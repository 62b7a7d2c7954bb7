import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from simcluster.cluster import Cluster, Settings
from tests.simcluster.tinyextender import TinyExtender

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    headers: dict[str, str]


class Client:
    """A plain HTTP client: one connection a call, JSON in and out."""

    def __init__(self, url: str) -> None:
        self._netloc = url.removeprefix("http://")

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(self._netloc, timeout=5)
        try:
            raw = None if body is None else json.dumps(body)
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, raw, named)
            response = connection.getresponse()
            content = response.read()
            is_json = response.getheader("Content-Type") == "application/json"
            return Answer(
                response.status, json.loads(content) if is_json else content, dict(response.headers)
            )
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, **headers)

    def watch(self, path: str) -> "Stream":
        return Stream(self._netloc, path)


class Stream:
    """An open watch; ``next`` returns one event, None at a clean end."""

    def __init__(self, netloc: str, path: str) -> None:
        self._connection = http.client.HTTPConnection(netloc, timeout=5)
        self._connection.request("GET", path)
        self._response = self._connection.getresponse()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *error: object) -> None:
        self._response.close()
        self._connection.close()

    def rest(self) -> bytes:
        """Return what comes up to the end; IncompleteRead when there is no clean one."""
        return self._response.read()

    def next(self) -> Json | None:
        line = self._response.readline()
        event: Json | None = json.loads(line) if line else None
        return event


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield two nodes of two cards, nobody who schedules, pods that never end by themselves."""
    settings = Settings(fleet="nvidia:2x2", workload=False, allocate_seconds=0.01, pod_seconds=None)
    with Cluster(settings) as running:
        yield running


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return Client(cluster.url)


@pytest.fixture
def extender() -> Iterator[TinyExtender]:
    with TinyExtender() as running:
        yield running


@pytest.fixture
def scheduled(extender: TinyExtender) -> Iterator[Cluster]:
    """Yield the same nodes with a scheduler, an extender and a webhook."""
    settings = Settings(
        fleet="nvidia:2x2",
        workload=False,
        allocate_seconds=0.01,
        pod_seconds=None,
        extender_url=extender.url,
        webhook_url=extender.url + "/webhook",
        lease=("kube-system", "hami-scheduler"),
    )
    extender.cluster = Cluster(settings)
    with extender.cluster as running:
        yield running
