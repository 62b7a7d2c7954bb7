import http.client
import time

import pytest

from simcluster.cluster import Cluster
from tests.simcluster.conftest import Client
from tests.simcluster.objects import make_pod

NODE = "/api/v1/nodes/a100-01"
MERGE = "application/merge-patch+json"


def test_chosen_requests_fail_a_number_of_times(cluster: Cluster, client: Client) -> None:
    cluster.faults.fail(verb="patch", resource="nodes", contains="mutex", code=409, times=1)
    lock = {"metadata": {"annotations": {"hami.io/mutex.lock": "x"}}}
    assert client.call("PATCH", NODE, {"metadata": {"labels": {"a": "b"}}}, Content_Type=MERGE).status == 200
    refused = client.call("PATCH", NODE, lock, Content_Type=MERGE)
    assert (refused.status, refused.body["reason"]) == (409, "Conflict")
    assert client.call("PATCH", NODE, lock, Content_Type=MERGE).status == 200


def test_a_subresource_can_be_chosen(cluster: Cluster, client: Client) -> None:
    cluster.faults.fail(resource="pods/binding", code=500)
    cluster.api.create("pods", make_pod())
    path = "/api/v1/namespaces/default/pods/trainer"
    binding = {"metadata": {"name": "trainer"}, "target": {"kind": "Node", "name": "a100-01"}}
    assert client.call("POST", f"{path}/binding", binding).status == 500
    assert client.get(path).status == 200
    cluster.faults.clear()
    assert client.call("POST", f"{path}/binding", binding).status == 201


def test_callers_inside_are_not_hit(cluster: Cluster) -> None:
    cluster.faults.fail()
    assert cluster.api.get("nodes", "a100-01")


def test_a_throttled_client_is_told_when_to_come_back(cluster: Cluster, client: Client) -> None:
    cluster.faults.fail(code=429)
    answer = client.get(NODE)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "1")


def test_requests_can_be_slow(cluster: Cluster, client: Client) -> None:
    cluster.faults.delay(0.05, verb="get")
    start = time.monotonic()
    assert client.get(NODE).status == 200
    assert time.monotonic() - start >= 0.05


def test_a_connection_can_be_dropped(cluster: Cluster, client: Client) -> None:
    cluster.faults.fail(code=0)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        client.get(NODE)


def test_faults_are_set_over_http_too(client: Client) -> None:
    order = {"do": "fail", "verb": "get", "resource": "nodes", "code": 503}
    assert client.call("POST", "/simcluster/faults", order).status == 200
    assert client.get(NODE).status == 503
    assert client.call("POST", "/simcluster/faults", [{"do": "clear"}]).status == 200
    assert client.get(NODE).status == 200
    assert client.call("POST", "/simcluster/faults", {"do": "explode"}).status == 400
    assert client.get("/simcluster/faults").status == 405
