"""P-17, B-4, L-8."""

import json

import pytest

from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import NodeName
from scheduler_app.kube.patch import ApiNodeWriter, ApiPodWriter
from scheduler_app.kube.throttle import Throttle
from tests.factories import make_pod
from tests.kube.scripted_server import Request, ScriptedServer
from tests.kube.tiny_api import Fault, TinyApi

POD = make_pod(name="p1", namespace="team", uid="u1")


def test_a_decision_is_one_merge_patch(server: ScriptedServer, api: TinyApi) -> None:
    api.add_pod("team", "p1")
    ApiPodWriter(server.client()).patch_pod(POD, annotations={"a": "1", "gone": None}, labels={"l": "n1"})
    sent = api.writes[0]
    assert sent.path == "/api/v1/namespaces/team/pods/p1"
    assert sent.headers["Content-Type"] == "application/merge-patch+json"
    assert sent.json == {"metadata": {"annotations": {"a": "1", "gone": None}, "labels": {"l": "n1"}}}


def test_without_labels_the_patch_has_none(server: ScriptedServer, api: TinyApi) -> None:
    api.add_pod("team", "p1")
    ApiPodWriter(server.client()).patch_pod(POD, annotations={"a": "1"})
    assert api.bodies() == [{"metadata": {"annotations": {"a": "1"}}}]


def test_a_binding_names_the_pods_uid_and_the_node(server: ScriptedServer, api: TinyApi) -> None:
    """B-4."""
    writer = ApiPodWriter(server.client())
    writer.bind(namespace="team", name="p1", uid="u1", node=NodeName("n1"))
    sent = api.writes[0]
    assert (sent.method, sent.path) == ("POST", "/api/v1/namespaces/team/pods/p1/binding")
    assert sent.json["metadata"] == {"name": "p1", "uid": "u1"}
    assert sent.json["target"] == {"kind": "Node", "name": "n1"}


def test_a_pod_is_read_as_it_is_now(server: ScriptedServer, api: TinyApi) -> None:
    """Architecture, section 7: before a bind whose decision another replica made."""
    api.add_pod("team", "p1")
    ApiPodWriter(server.client()).patch_pod(POD, annotations={"hami.io/vgpu-node": "n1"})
    fresh = ApiPodWriter(server.client()).get_pod(POD)
    assert fresh is not None
    assert fresh.annotations == {"hami.io/vgpu-node": "n1"}


def test_a_pod_that_is_gone_is_none_and_no_error(server: ScriptedServer, api: TinyApi) -> None:
    assert ApiPodWriter(server.client()).get_pod(POD) is None


def test_a_refused_binding_is_told_in_the_servers_words(server: ScriptedServer, api: TinyApi) -> None:
    text = 'pod p1 is already assigned to node "x"'
    api.faults.append(Fault("POST", "/binding", status=409, message=text))
    with pytest.raises(HamiError) as caught:
        ApiPodWriter(server.client()).bind(namespace="team", name="p1", uid="u1", node=NodeName("n1"))
    assert str(caught.value) == text
    assert len(api.writes) == 1


def test_names_from_a_request_cannot_leave_their_place(server: ScriptedServer, api: TinyApi) -> None:
    writer = ApiPodWriter(server.client())
    with pytest.raises(HamiError):
        writer.patch_pod(make_pod(name="../nodes/n1?x=", namespace="a/b"), annotations={"a": "1"})
    assert server.requests[0].path == "/api/v1/namespaces/a%2Fb/pods/..%2Fnodes%2Fn1%3Fx%3D"


def test_node_writes_take_their_turn_and_reads_do_not(server: ScriptedServer, api: TinyApi) -> None:
    """``--kube-qps`` throttles background writes only (architecture, section 7)."""
    api.add_node("n1", h="old")
    api.add_pod("kube-system", "me")
    waits: list[float] = []
    client = server.client()
    writer = ApiNodeWriter(client, throttle=Throttle(qps=1, burst=1, clock=lambda: 0.0, wait=waits.append))
    for _ in range(3):
        assert writer.ask_for([NodeName("n1")]) == {}
    assert waits == []
    writer.patch_node(NodeName("n1"), {"h": "Requesting_2026", "old": None})
    writer.label_pod(namespace="kube-system", name="me", labels={"role": "leader"})
    assert waits == [1.0]
    ApiPodWriter(client).patch_pod(make_pod(name="me", namespace="kube-system"), annotations={"a": "1"})
    assert waits == [1.0]
    assert api.bodies()[:2] == [
        {"metadata": {"annotations": {"h": "Requesting_2026", "old": None}}},
        {"metadata": {"labels": {"role": "leader"}}},
    ]


def test_a_node_that_is_not_given_is_named_with_the_reason(server: ScriptedServer, api: TinyApi) -> None:
    """R-8."""
    api.add_node("n1")
    writer = ApiNodeWriter(server.client(), throttle=Throttle(qps=1, burst=1))
    api.faults.append(Fault("GET", "/nodes/n3", status=500, message="etcd is away"))
    problems = writer.ask_for([NodeName(name) for name in ("n1", "n2", "n3")])
    assert problems.keys() == {"n2", "n3"}
    assert problems[NodeName("n3")] == "etcd is away"


def test_many_nodes_are_asked_for_in_one_list(server: ScriptedServer, api: TinyApi) -> None:
    """R-8: thousands of single reads at each start would cost both sides seconds."""
    names = [NodeName(f"n{n}") for n in range(40)]
    pages = {"": (names[:20], "2"), "2": (names[20:39], "")}

    def serve(request: Request) -> None:
        found, token = pages[request.query.get("continue", "")]
        items = [{"metadata": {"name": name}} for name in found]
        api.objects["/api/v1/nodes"] = {"metadata": {"continue": token}, "items": items}

    api.before = serve
    writer = ApiNodeWriter(server.client(), throttle=Throttle(qps=1, burst=1))
    assert writer.ask_for(names) == {names[39]: "not found"}
    assert api.asked["GET"] == 2
    assert "PartialObjectMetadataList" in server.requests[0].headers["Accept"]
    api.faults.append(Fault("GET", "/nodes", status=500, message="etcd is away"))
    assert writer.ask_for(names) == dict.fromkeys(names, "etcd is away")


def test_text_beyond_ascii_arrives_whole(server: ScriptedServer, api: TinyApi) -> None:
    api.add_pod("team", "p1")
    ApiPodWriter(server.client()).patch_pod(POD, annotations={"a": "東京 \N{GRINNING FACE}"})
    assert json.loads(api.writes[0].body)["metadata"]["annotations"]["a"] == "東京 \N{GRINNING FACE}"
