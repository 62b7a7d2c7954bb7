import http.client
import json
from typing import Any

import pytest

from simcluster.cluster import Cluster
from tests.simcluster.conftest import Client, Stream
from tests.simcluster.objects import make_pod

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def config(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


def summary(stream: Stream) -> tuple[str, str]:
    event = stream.next()
    assert event is not None
    return event["type"], event["object"]["metadata"]["name"]


def test_a_watch_follows_from_its_version(cluster: Cluster, client: Client) -> None:
    cluster.api.create("configmaps", config("old"))
    version = client.get(CONFIGMAPS).body["metadata"]["resourceVersion"]
    cluster.api.create("configmaps", config("before"))
    with client.watch(f"{CONFIGMAPS}?watch=true&resourceVersion={version}") as stream:
        cluster.api.patch("configmaps", "default/old", {"data": {"a": "b"}})
        cluster.api.delete("configmaps", "default/old")
        seen = [summary(stream) for _ in range(3)]
    assert seen == [("ADDED", "before"), ("MODIFIED", "old"), ("DELETED", "old")]


def test_a_watch_without_version_begins_with_what_is_there(cluster: Cluster, client: Client) -> None:
    """K3.2-4."""
    cluster.api.create("configmaps", config("a"))
    with client.watch(f"{CONFIGMAPS}?watch=1&resourceVersion=0") as stream:
        cluster.api.create("configmaps", config("b"))
        assert [summary(stream), summary(stream)] == [("ADDED", "a"), ("ADDED", "b")]


def test_leaving_a_selector_is_a_deletion_with_the_old_content(cluster: Cluster, client: Client) -> None:
    """K3.2-2."""
    cluster.api.create("configmaps", config("a", colour="red"))
    with client.watch(f"{CONFIGMAPS}?watch=1&labelSelector=colour%3Dred") as stream:
        assert summary(stream) == ("ADDED", "a")
        changed = cluster.api.patch("configmaps", "default/a", config("a", colour="blue"))
        event = stream.next()
        assert event is not None
        assert (event["type"], event["object"]["metadata"]["labels"]) == ("DELETED", {"colour": "red"})
        assert event["object"]["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]
        cluster.api.patch("configmaps", "default/a", config("a", colour="red"))
        assert summary(stream) == ("ADDED", "a")


def test_a_version_too_old_is_one_error_event(cluster: Cluster, client: Client) -> None:
    """K3.2-1: HTTP 200, one ERROR event, a clean end."""
    version = client.get("/api/v1/nodes").body["metadata"]["resourceVersion"]
    cluster.faults.gone()
    with client.watch(f"/api/v1/nodes?watch=1&resourceVersion={version}") as stream:
        event = stream.next()
        assert event is not None
        assert (event["type"], event["object"]["code"], event["object"]["reason"]) == (
            "ERROR",
            410,
            "Expired",
        )
        assert stream.next() is None


def test_open_watches_are_told_gone(cluster: Cluster, client: Client) -> None:
    with client.watch("/api/v1/namespaces?watch=1") as stream:
        assert summary(stream) == ("ADDED", "default")
        cluster.faults.gone()
        events = list(iter(stream.next, None))
    assert events[-1]["object"]["code"] == 410


def test_a_cut_watch_breaks_off(cluster: Cluster, client: Client) -> None:
    with client.watch("/api/v1/nodes?watch=1") as stream:
        assert summary(stream) == ("ADDED", "a100-01")
        stream.next()
        cluster.faults.cut_watches()
        with pytest.raises(http.client.IncompleteRead):
            stream.rest()


def test_bookmarks_come_on_demand_and_at_the_end(cluster: Cluster, client: Client) -> None:
    """K3.1-2."""
    version = client.get(CONFIGMAPS).body["metadata"]["resourceVersion"]
    query = f"watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion={version}"
    with client.watch(f"{CONFIGMAPS}?{query}") as stream:
        cluster.send_bookmarks()
        first = stream.next()
        last = [event["type"] for event in iter(stream.next, None)]
    assert first is not None
    assert first["type"] == "BOOKMARK"
    assert first["object"]["metadata"]["resourceVersion"] == version
    assert last == ["BOOKMARK"]


def test_initial_events_end_with_a_marked_bookmark(client: Client) -> None:
    """K3.1-8."""
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    with client.watch(f"/api/v1/nodes?{query}") as stream:
        events = [stream.next() for _ in range(3)]
    assert [event["type"] for event in events if event] == ["ADDED", "ADDED", "BOOKMARK"]
    assert events[2] is not None
    assert events[2]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_watch_of_tables_sends_rows(cluster: Cluster) -> None:
    connection = http.client.HTTPConnection(cluster.url.removeprefix("http://"), timeout=5)
    headers = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    connection.request("GET", "/api/v1/namespaces/default/pods?watch=1", headers=headers)
    cluster.api.create("pods", make_pod())
    response = connection.getresponse()
    row = json.loads(response.readline())["object"]["rows"][0]["cells"]
    response.close()
    connection.close()
    assert row[:3] == ["trainer", "0/1", "Pending"]
