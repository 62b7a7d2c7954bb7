"""REST: one envelope, one shape of error, names that scripts hold on to (console.md 9)."""

import gzip
from dataclasses import replace
from typing import Any

import orjson
import pytest
from django.test import Client

from dashboard.live.hub import hub
from tests.dashboard.clusters import Cluster, make_publication, memory

LISTS = ("nodes", "gpus", "pending", "quotas", "decisions")


@pytest.mark.parametrize("path", LISTS)
def test_each_list_says_when_whose_and_how_many(path: str, alice: Client, cluster: Cluster) -> None:
    body = alice.get(f"/api/v1/{path}?page_size=2").json()
    assert set(body) == {"as_of", "epoch", "rev", "leader", "stale", "count", "next", "results"}
    assert len(body["results"]) == 2
    assert body["next"] == "?page_size=2&page=2"
    assert (body["leader"], body["stale"]) == ("hami-scheduler-0", False)


@pytest.mark.parametrize("path", [*LISTS, "summary", "live/topology", "live/snapshot"])
def test_before_the_first_picture_the_answer_is_503_and_no_empty_list(path: str, alice: Client) -> None:
    response = alice.get(f"/api/v1/{path}")
    assert (response.status_code, response.json()["code"]) == (503, "not_synced")


@pytest.mark.parametrize(
    ("path", "field"),
    [("nodes?page_size=0", "page_size"), ("nodes?page=x", "page"), ("nodes?sort=colour", "sort")],
)
def test_a_bad_parameter_is_named(path: str, field: str, alice: Client, cluster: Cluster) -> None:
    response = alice.get(f"/api/v1/{path}")
    assert response.status_code == 400
    assert (response.json()["field"], response.json()["code"]) == (field, "invalid")


def test_a_node_has_its_gpus_and_allocations(alice: Client, cluster: Cluster) -> None:
    body = alice.get("/api/v1/nodes/gpu-0005").json()
    view = cluster.nodes["gpu-0005"]
    assert (body["name"], body["state"], body["gpus"][3]["healthy"]) == ("gpu-0005", "unhealthy", False)
    assert len(body["allocations"]) == sum(len(card.pods) for card in view.cards)
    assert body["mem_mib"] == [sum(memory(c)[n] for c in view.cards) for n in (0, 1)]


def test_an_unknown_node_is_404(alice: Client, cluster: Cluster) -> None:
    response = alice.get("/api/v1/nodes/nobody")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_fields_keep_an_answer_small(alice: Client, cluster: Cluster) -> None:
    rows = alice.get("/api/v1/nodes?fields=name,state").json()["results"]
    assert set(rows[0]) == {"name", "state"}


def test_why_in_json_and_in_ten_lines(alice: Client, cluster: Cluster) -> None:
    body = alice.get("/api/v1/pods/vision/train-0/why").json()
    assert (body["verdict"]["kind"], body["funnel"]["asked"], body["groups"][0]["nodes"]) == ("full", 60, 24)
    text = alice.get("/api/v1/pods/vision/train-0/why?format=text")
    assert text.headers["Content-Type"].startswith("text/plain")
    assert text.content.decode().startswith("vision/train-0 pending for 3 h, 41 tries")


@pytest.mark.parametrize(
    ("pod", "kind"),
    [
        ("vision/nb-0", "quota"),
        ("speech/early-0", "not_asked"),
        ("ranking/stuck-1", "stuck"),
        ("vision/train-0", "full"),
    ],
)
def test_each_kind_of_wait_has_its_verdict(pod: str, kind: str, alice: Client, cluster: Cluster) -> None:
    assert alice.get(f"/api/v1/pods/{pod}/why").json()["verdict"]["kind"] == kind


def test_topology_and_snapshot_fit_together(alice: Client, cluster: Cluster) -> None:
    topology = alice.get("/api/v1/live/topology")
    snapshot = alice.get("/api/v1/live/snapshot?topics=fleet,summary")
    names, values = unpacked(topology.content), unpacked(snapshot.content)
    assert topology.headers["ETag"] == f'"demo-t{names["topo"]}"'
    assert (values["topo"], values["rev"]) == (names["topo"], hub.mirror.picture.revision)
    assert len(names["gpus"]["id"]) == len(values["fleet"]["state"]) == 424
    assert values["summary"]["pending"] == 43


def unpacked(body: bytes) -> dict[str, Any]:
    return orjson.loads(gzip.decompress(body))  # type: ignore[no-any-return]


def test_who_has_the_snapshot_gets_no_body(alice: Client, cluster: Cluster) -> None:
    etag = alice.get("/api/v1/live/snapshot?topics=fleet").headers["ETag"]
    again = alice.get("/api/v1/live/snapshot?topics=fleet", headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_follower_s_own_picture_is_called_stale(alice: Client) -> None:
    whole = make_publication()
    hub.receive(replace(whole, leader=replace(whole.leader, is_leader=False, holder="hami-scheduler-1")))
    assert alice.get("/api/v1/nodes").json()["stale"] is True


def test_vendors_are_listed_for_scripts(alice: Client) -> None:
    assert "nvidia" in [vendor["name"] for vendor in alice.get("/api/v1/vendors").json()]


def test_each_problem_has_an_id_of_its_own(alice: Client, cluster: Cluster) -> None:
    """Two causes may ask for the same; the browser keeps rows apart by these ids."""
    for pod in list(cluster.pending.values()):
        cluster.pending[pod.uid] = replace(pod, since_ms=pod.since_ms - 3_600_000)
    cluster.revision += 1
    hub.receive(cluster.whole())
    ids = [problem["id"] for problem in alice.get("/api/v1/summary").json()["problems"]]
    assert len(ids) == len(set(ids))
