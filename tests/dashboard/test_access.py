"""Three people, one answer: pages, REST and sockets give the same sight (console.md 13, 15.10)."""

import pytest
from django.test import Client

from dashboard.access import EVERYTHING, Sight
from dashboard.live.hub import hub
from tests.dashboard.clusters import Cluster, make_pending, make_publication

FOREIGN = "train-1"  # a pending pod of the namespace speech


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/fleet", "/nodes", "/pending", "/decisions"])
def test_a_stranger_is_led_to_the_login(path: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response.headers["Location"].split("?")[0]) == (302, "/login")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["summary", "nodes", "pending", "live/topology", "live/snapshot"])
def test_a_stranger_s_script_is_refused(path: str, cluster: Cluster) -> None:
    response = Client().get(f"/api/v1/{path}")
    assert response.status_code == 403
    assert set(response.json()) == {"message", "code"}


@pytest.mark.parametrize("path", ["/fleet", "/nodes", "/nodes/gpu-0001", "/scheduler"])
def test_nodes_are_for_those_who_see_the_cluster(
    path: str, alice: Client, bob: Client, cluster: Cluster
) -> None:
    assert (alice.get(path).status_code, bob.get(path).status_code) == (200, 403)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/pending",
        "/pending?by=pod",
        "/quotas",
        "/decisions",
        "/api/v1/pending",
        "/api/v1/quotas",
        "/api/v1/decisions",
    ],
)
def test_foreign_names_appear_nowhere(path: str, bob: Client, cluster: Cluster) -> None:
    body = bob.get(path).content.decode()
    for namespace in ("speech", "ranking", "robotics"):
        assert namespace not in body


def test_a_foreign_pod_looks_like_one_that_is_not_there(bob: Client, cluster: Cluster) -> None:
    foreign, missing = bob.get(f"/pods/speech/{FOREIGN}"), bob.get("/pods/vision/nobody")
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert (
        bob.get(f"/api/v1/pods/speech/{FOREIGN}/why").json() == bob.get("/api/v1/pods/vision/no/why").json()
    )


def test_who_sees_nothing_gets_empty_lists(charlie: Client, cluster: Cluster) -> None:
    assert charlie.get("/api/v1/pending").json()["count"] == 0
    assert "No pod waits." in charlie.get("/").content.decode()


def test_my_namespaces_show_my_pods(bob: Client) -> None:
    hub.receive(
        make_publication(pending_put=(make_pending(), make_pending(uid="u-2", namespace="speech", name="x")))
    )
    page = bob.get("/").content.decode()
    assert "vision/train-7" in page
    assert "speech" not in page


@pytest.mark.parametrize(
    ("sight", "topic", "allowed"),
    [
        (EVERYTHING, "summary", True),
        (Sight(), "summary", False),
        (Sight(namespaces=frozenset({"vision"})), "ns:vision", True),
        (Sight(namespaces=frozenset({"vision"})), "ns:speech", False),
        (Sight(namespaces=frozenset({"vision"})), "pending", False),
        (Sight(has_capacity=True), "fleet", True),
        (Sight(has_capacity=True), "node:gpu-0001", False),
        (Sight(has_capacity=True), "summary", False),
    ],
)
def test_topics_follow_the_sight(sight: Sight, topic: str, allowed: bool) -> None:
    assert sight.allows(topic) is allowed


def test_a_snapshot_with_a_foreign_topic_is_refused_whole(bob: Client, cluster: Cluster) -> None:
    assert bob.get("/api/v1/live/snapshot?topics=ns:vision,fleet").status_code == 403
    assert bob.get("/api/v1/live/snapshot?topics=ns:vision").status_code == 200


@pytest.mark.django_db
def test_guessing_passwords_is_slowed_down() -> None:
    client = Client()
    for _ in range(5):
        client.post("/login", {"username": "alice", "password": "wrong"})
    response = client.post("/login", {"username": "alice", "password": "wrong"})
    assert response.status_code == 429
    assert "Too many tries" in response.content.decode()


@pytest.mark.django_db
def test_the_login_page_says_what_is_wrong_at_the_field() -> None:
    page = Client().post("/login", {"username": "alice", "password": "wrong"}).content.decode()
    assert 'role="alert"' in page
    assert 'value="alice"' in page
