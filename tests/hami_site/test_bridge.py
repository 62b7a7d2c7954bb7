"""The extender's door keeps its verbs apart and survives its clients."""

import asyncio
import json
import threading
from typing import Any

import pytest
from django.conf import settings
from prometheus_client import REGISTRY

from hami_site import bridge as module
from hami_site.bridge import VERBS
from scheduler_app.core.types import NodeName
from tests.engine.world import pod_of
from tests.extender.door import Answer, Door, Exchange, pod_json
from tests.factories import make_container
from tests.waiting import wait_until


def encoded(body: Any) -> bytes:
    return json.dumps(body).encode()


async def answer(door: Door, exchange: Exchange) -> Answer:
    found = await asyncio.wait_for(exchange.with_app(door.bridge), 10)
    assert found is not None
    return found


def block_binds(door: Door, count: int) -> list[bytes]:
    """Let somebody hold the node's lock, and return the bodies of binds that will wait for it."""
    door.locks.held[NodeName("n1"), "hami.io/mutex.lock"] = "default/other"
    bodies = []
    for number in range(count):
        name = f"p{number}"
        gpu = make_container("c", limits={"nvidia.com/gpu": 1})
        door.pods.seen[f"default/{name}"] = pod_of(gpu, name=name)
        args = {"PodName": name, "PodNamespace": "default", "PodUID": f"uid-{name}", "Node": "n1"}
        bodies.append(encoded(args))
    return bodies


async def test_l10_sixty_blocked_binds_do_not_delay_a_filter(door: Door) -> None:
    bodies = block_binds(door, 60)
    binds = [asyncio.create_task(answer(door, Exchange("POST", "/bind", [body]))) for body in bodies]
    await asyncio.to_thread(wait_until, lambda: door.parts.turns.waiting == 60)
    placed = await answer(
        door, Exchange("POST", "/filter", [encoded({"Pod": pod_json(), "NodeNames": ["n1"]})])
    )
    review = await answer(
        door, Exchange("POST", "/webhook", [encoded({"request": {"uid": "u", "object": pod_json()}})])
    )
    assert placed.json()["NodeNames"] == ["n1"]
    assert review.json()["response"]["allowed"]
    assert (await answer(door, Exchange("GET", "/healthz"))).status == 200
    assert not any(bind.done() for bind in binds)
    door.parts.turns.stop()
    assert all("contention" in found.error for found in await asyncio.gather(*binds))


async def test_probes_answer_while_every_filter_thread_is_busy(door: Door) -> None:
    hold = threading.Event()
    door.writer.before = lambda call: _wait(hold)
    filters = [
        asyncio.create_task(
            answer(
                door,
                Exchange(
                    "POST", "/filter", [encoded({"Pod": pod_json(f"p{n}", mem=1), "NodeNames": ["n1"]})]
                ),
            )
        )
        for n in range(VERBS["/filter"].threads + 2)
    ]
    assert (await answer(door, Exchange("GET", "/readyz"))).status == 200
    hold.set()
    assert all(found.error == "" for found in await asyncio.gather(*filters))


def _wait(hold: threading.Event) -> None:
    assert hold.wait(10)


async def test_k16_a_client_that_goes_away_while_it_sends_is_forgotten(door: Door) -> None:
    exchange = Exchange("POST", "/filter", [b'{"Pod":', None])
    assert await exchange.with_app(door.bridge) is None
    assert door.writer.patches == []


async def test_a_client_that_never_finishes_is_given_up(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """H-1: the whole request must arrive in time."""
    monkeypatch.setattr(module, "BODY_SECONDS", 0.01)
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    await door.bridge(Exchange("POST", "/filter")._scope(), never, send)
    assert sent == []


async def test_k16_a_write_that_fails_is_logged_and_leaves_a_consistent_state(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    """The decision was written and counts, as the API server has it; that nobody heard of it is counted."""
    sample = ("hami_scheduler_undelivered_answers_total", {"verb": "filter"})
    before = REGISTRY.get_sample_value(*sample) or 0.0
    body = encoded({"Pod": pod_json(), "NodeNames": ["n1"]})

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def broken(message: Any) -> None:
        raise OSError("the peer is gone")

    await door.bridge(Exchange("POST", "/filter")._scope(), receive, broken)
    assert "answer not delivered path=/filter error=the peer is gone" in caplog.text
    assert REGISTRY.get_sample_value(*sample) == before + 1
    assert len(door.writer.patches) == len(door.parts.state.pods()) == 1


def test_a_body_in_pieces_is_one_body(door: Door) -> None:
    body = encoded({"Pod": pod_json(), "NodeNames": ["n1"]})
    pieces = [body[i : i + 7] for i in range(0, len(body), 7)]
    assert door.ask("POST", "/filter", *pieces).json()["NodeNames"] == ["n1"]


def test_other_paths_take_one_mebibyte(door: Door) -> None:
    assert door.ask("POST", "/nowhere", b" " * (1024 * 1024 + 1)).status == 413


async def test_other_kinds_of_connection_are_not_served(door: Door) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    await door.bridge({"type": "websocket", "path": "/filter"}, receive, send)
    assert sent == []


def test_a_broken_request_is_answered(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    """The border of the request: nobody above could answer."""
    found = door.ask("POST\x00", "/filter")
    assert found.status in (405, 500)


def test_host_headers_are_not_judged(door: Door) -> None:
    """kube-scheduler calls by whatever name its configuration has."""
    assert door.ask("GET", "/healthz", headers={"host": "extender.any.svc"}).status == 200


def test_the_site_s_middleware_is_left_as_it_was(door: Door) -> None:
    assert settings.MIDDLEWARE
