"""Differences of docs/parity.md that show at the edges: settings, files, probes, bodies of requests."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from hami_site.bridge import MIB, OTHER, VERBS, Bridge
from scheduler_app import bootstrap, conf, deviceconfig, vendortable
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import Decision
from scheduler_app.core.errors import ConfigError
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.turns import NodeTurns
from scheduler_app.extender import wire
from scheduler_app.watchers import NodeWatcher
from tests.factories import make_node

POD = {"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": {"containers": [{"name": "c"}]}}


@pytest.fixture
def flags() -> Iterator[None]:
    conf.clear_flags()
    yield
    conf.clear_flags()
    bootstrap.install(None)


def a_replica(**given: object) -> None:
    """Build a process's parts for an API server that is never asked."""
    conf.set_flags(KUBE_API="http://127.0.0.1:9", device_config_file=str(vendortable.CONFIG), **given)
    bootstrap.install(bootstrap.build())


def get(path: str) -> tuple[int, str]:
    response = Client().get(path)
    return response.status_code, response.content.decode()


@pytest.mark.urls("scheduler_app.extender.urls")
def test_a_follower_is_not_ready_unless_it_is_allowed_to_be(flags: None) -> None:
    """H-21 as the seed has it: 503 on whoever does not lead, with the reason."""
    a_replica(leader_elect=True, leader_elect_resource_name="x", leader_elect_resource_namespace="y")
    assert get("/readyz") == (503, "not the leader: the lease is held by nobody\n")
    a_replica(leader_elect=True, READYZ_FOLLOWER_OK=True)
    assert get("/readyz") == (200, "")


@pytest.mark.urls("scheduler_app.extender.urls")
def test_a_leader_is_ready_once_it_has_registered_its_nodes(flags: None) -> None:
    """CFG-9, H-15: the doors listen before that."""
    a_replica()
    assert get("/healthz") == (200, "")
    assert get("/readyz") == (503, "not synced: no registration pass has ended yet\n")
    bootstrap.parts().leadership.set_synced()
    assert get("/readyz") == (200, "")


@pytest.mark.urls("scheduler_app.extender.urls")
def test_a_follower_answers_filter_with_an_error_and_does_not_wait(flags: None) -> None:
    """Q-11, Q-12."""
    a_replica(leader_elect=True)
    body = {"Pod": POD, "NodeNames": ["n1"]}
    answer = Client().post("/filter", data=body, content_type="application/json").json()
    assert answer["Error"] == "not the leader: the lease is held by nobody"


@pytest.mark.urls("scheduler_app.extender.urls")
def test_there_is_no_preempt_verb(flags: None) -> None:
    """K02."""
    assert Client().post("/preempt").status_code == 404


def config(**given: object) -> SchedulerConfig:
    conf.clear_flags()
    conf.set_flags(**given)
    return conf.scheduler_config()


def test_the_environment_sets_the_lock_s_age_unless_the_flag_is_given(flags: None) -> None:
    """Q-14: in the reference the flag's default always wins."""
    assert config().node_lock_timeout_seconds == 300
    assert config(NODELOCK_EXPIRE="90s").node_lock_timeout_seconds == 90
    assert config(NODELOCK_EXPIRE="90s", node_lock_timeout=60.0).node_lock_timeout_seconds == 60
    with pytest.raises(ConfigError, match="HAMI_NODELOCK_EXPIRE"):
        config(NODELOCK_EXPIRE="soon")


def test_an_unknown_key_of_the_device_configuration_is_told_with_its_line() -> None:
    """CFG-5, DCF-4: and the file is used all the same."""
    first = vendortable.CONFIG.read_text(encoding="utf-8").partition(":")[0]
    found = deviceconfig.load(f"{first}:\n  defaultMemory: 1\n  defaultMemroy: 2\n", {})
    (unknown,) = found.unknown
    assert str(unknown).startswith(f"line 3: unknown key {first}.defaultMemroy; valid keys are ")
    assert "defaultMemory" in unknown.valid


def test_a_wrong_type_in_the_device_configuration_stops_the_start() -> None:
    """DCF-4: the message names key, line and type."""
    first = vendortable.CONFIG.read_text(encoding="utf-8").partition(":")[0]
    with pytest.raises(ConfigError, match=rf"line 2: {first}\.defaultMemory: expected a whole number"):
        deviceconfig.load(f"{first}:\n  defaultMemory: [1]\n", {})


async def through_the_door(path: str, body: bytes) -> tuple[int, bytes]:
    """Send a body in one piece through the extender's door and return status and answer."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}
    door = Bridge("scheduler_app.extender.urls")
    try:
        await door(scope, receive, send)
    finally:
        door.shutdown()
    return sent[0]["status"], sent[1]["body"]


@pytest.mark.parametrize("path", ["/bind", "/webhook", "/healthz"])
async def test_a_body_beyond_its_limit_is_told_the_limit(path: str) -> None:
    """Q-9, K09: the reference cuts it and complains of an unexpected end."""
    limit = VERBS.get(path, OTHER).limit_bytes
    status, body = await through_the_door(path, b" " * (limit + 1))
    assert (status, json.loads(body)) == (413, {"Error": f"request body is larger than {limit} bytes"})


def test_names_have_a_smaller_limit_than_nodes() -> None:
    """Q-9: 8 MiB with NodeNames, 64 MiB with Nodes."""
    padding = " " * (8 * MIB)
    names = json.dumps({"Pod": POD, "NodeNames": ["n1"]}) + padding
    with pytest.raises(wire.TooLargeError, match="request body is larger than 8388608 bytes"):
        wire.parse_filter(names.encode())
    nodes = json.dumps({"Pod": POD, "Nodes": {"items": []}}) + padding
    assert wire.parse_filter(nodes.encode()).nodes == ()


def test_a_body_that_is_nested_too_deeply_is_refused() -> None:
    """K09: and the door answers 413."""
    body = '{"Pod":' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(wire.TooLargeError, match="nested too deeply"):
        wire.parse_filter(body.encode())


def test_absent_names_are_an_empty_list() -> None:
    """Q-6: the reference crashes on null."""
    for body in ({"Pod": POD}, {"Pod": POD, "NodeNames": None}):
        assert not wire.parse_filter(json.dumps(body).encode()).names


def test_whichever_of_nodes_and_names_came_is_echoed() -> None:
    """Q-7: the reference answers neither when Nodes came."""
    nodes = [{"metadata": {"name": "n1", "labels": {"x": "y"}}}]
    args = wire.parse_filter(json.dumps({"Pod": POD, "Nodes": {"items": nodes}}).encode())
    answer = wire.filter_result(Decision(args.pod, "passed_through", ()), args)
    assert (answer["Nodes"], answer["NodeNames"]) == ({"metadata": {}, "items": nodes}, None)


def test_what_a_node_advertises_anew_is_looked_at_at_once() -> None:
    """R-1: the reference waits for its next tick. Locks and handshakes are no news."""
    wakes: list[int] = []
    watcher = NodeWatcher(
        ClusterState({}),
        NodeTurns(),
        gone=lambda name: None,
        changed=lambda name: None,
        wake=lambda: wakes.append(1),
    )
    node = make_node("n1", annotations={"x.io/node-x-register": "a"})
    locked = replace(node, annotations={**node.annotations, "hami.io/mutex.lock": "y"})
    watcher.updated(node, locked)
    assert wakes == []
    watcher.updated(locked, replace(node, annotations={"x.io/node-x-register": "b"}))
    assert wakes == [1]
