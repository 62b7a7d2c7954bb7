"""From the publisher thread into the channel layer, shared or not (console.md 7.1)."""

import logging
from dataclasses import replace
from typing import Any

import msgpack  # type: ignore[import-untyped]  # ships no types
import pytest
from channels.layers import BaseChannelLayer, InMemoryChannelLayer

from dashboard.live.hub import Hub
from dashboard.live.publisher import messages_for, send_all
from dashboard.live.transport import Assembler
from scheduler_app.core.publication import Publication
from tests.dashboard.clusters import Cluster, make_publication

NOW = 1_793_582_531_250


class SharedLayer(BaseChannelLayer):  # type: ignore[misc]  # channels ships no types
    """A layer between processes: what goes through it is bytes, as with Redis."""

    def __init__(self) -> None:
        super().__init__()
        self.wire: list[bytes] = []

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        self.wire.append(msgpack.packb(message))


class AwayLayer(BaseChannelLayer):  # type: ignore[misc]  # channels ships no types
    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        raise ConnectionRefusedError


def led_by_another(publication: Publication) -> Publication:
    return replace(publication, leader=replace(publication.leader, is_leader=False))


async def test_a_replica_shows_what_the_leader_publishes() -> None:
    cluster, layer = Cluster(now_ms=NOW), SharedLayer()
    await send_all(layer, messages_for(layer, cluster.whole()))
    await send_all(layer, messages_for(layer, cluster.step(NOW + 250)))
    replica, assembler = Hub(source=lambda: None), Assembler()
    for body in layer.wire:
        if publication := assembler.add(msgpack.unpackb(body)):
            replica.receive(publication)
    leader = Hub(source=lambda: None)
    leader.receive(cluster.whole())
    assert replica.mirror.picture.revision == cluster.revision
    assert replica.mirror.picture.sums == leader.mirror.picture.sums
    assert set(replica.mirror.picture.pending) == set(leader.mirror.picture.pending)


def test_on_a_shared_layer_only_the_leader_speaks() -> None:
    follower = led_by_another(make_publication())
    assert messages_for(SharedLayer(), follower) == []
    assert len(messages_for(InMemoryChannelLayer(), follower)) == 1


async def test_a_layer_that_is_away_costs_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        await send_all(AwayLayer(), messages_for(AwayLayer(), make_publication()))
    assert "channel layer is away" in caplog.text


async def test_a_process_that_is_behind_asks_again_until_it_is_not() -> None:
    hub = Hub(source=lambda: None)
    behind = [hub._is_behind]
    gap = make_publication(base=7, revision=8, is_whole=False)
    for publication in (make_publication(), gap, make_publication(revision=9)):
        hub.receive(publication)
        behind.append(hub._is_behind)
    assert behind == [True, False, True, False]


async def test_a_broken_message_does_not_end_the_feed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Once:
        """Gives one broken message and one good one."""

        def __init__(self) -> None:
            broken = {"type": "live.piece", "key": "k", "part": 0, "parts": 1, "body": b"nonsense"}
            self.messages = [broken, *messages_for(InMemoryChannelLayer(), make_publication())]

        async def receive(self, channel: str) -> dict[str, Any]:
            if not self.messages:
                raise GeneratorExit
            return self.messages.pop(0)

    hub = Hub(source=lambda: None)
    with pytest.raises(GeneratorExit):
        await hub._relay(Once(), "channel")
    assert hub.mirror.picture.is_known
    assert "message left out" in caplog.text
