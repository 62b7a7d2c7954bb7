"""N18: a node's page and REST show when its GPUs fell ill and recovered."""

from typing import Any

from django.test import Client

from dashboard.live.hub import hub
from scheduler_app.models import HealthRecord
from tests.dashboard.clusters import make_card_view, make_node_view, make_publication


def publish(**healthy: bool) -> None:
    cards = [make_card_view(id=id, index=n, healthy=value) for n, (id, value) in enumerate(healthy.items())]
    hub.receive(make_publication(nodes=[make_node_view(name="n1", cards=cards)]))


def happened(at_ms: int, gpu: str, *, healthy: bool) -> None:
    HealthRecord.objects.create(at_ms=at_ms, node="n1", gpu=gpu, healthy=healthy)


def rest(client: Client) -> list[dict[str, Any]]:
    return client.get("/api/v1/nodes/n1").json()["health"]  # type: ignore[no-any-return]


def section(client: Client) -> str:
    page = client.get("/nodes/n1").content.decode()
    return page.partition('data-part="health"')[2].partition("</section>")[0]


def test_changes_are_shown_newest_first_with_the_place_of_the_gpu(alice: Client) -> None:
    publish(a=True, b=True)
    happened(1_793_571_671_000, "b", healthy=False)
    happened(1_793_571_731_000, "b", healthy=True)
    happened(1_793_571_000_000, "gone", healthy=False)
    assert rest(alice) == [
        {"at": 1_793_571_731_000, "gpu_id": "b", "healthy": True, "index": 1},
        {"at": 1_793_571_671_000, "gpu_id": "b", "healthy": False, "index": 1},
        {"at": 1_793_571_000_000, "gpu_id": "gone", "healthy": False, "index": None},
    ]
    found = section(alice)
    assert [found.count("GPU 1"), found.count("unhealthy"), found.count("gone</span>")] == [2, 2, 1]
    assert 'datetime="2026-11-01T22:22:11Z"' in found


def test_what_history_has_not_written_yet_is_shown_at_once(alice: Client) -> None:
    publish(a=False, b=True)
    happened(1, "b", healthy=False)
    ahead = [(row["at"], row["gpu_id"], row["healthy"]) for row in rest(alice)[:2]]
    assert ahead == [(None, "a", False), (None, "b", True)]
    assert section(alice).count("just now") == 2


def test_a_node_that_was_never_ill_says_so(alice: Client) -> None:
    publish(a=True)
    assert rest(alice) == []
    assert "No GPU of this node was ever reported unhealthy." in section(alice)
