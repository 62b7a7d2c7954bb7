"""Whatever comes through the extender's door gets an answer of its protocol, and never "internal error"."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler_app import vendortable
from tests.extender.door import Door, gpu_node, node_json, pod_json

Json = dict[str, Any]
Path = tuple[str | int, ...]
FULL: Json = pod_json(
    annotations={
        "hami.io/gpu-scheduler-policy": "binpack,numa",
        "hami.io/device-scoring-weights": "slot=1,core=1,memory=1",
        "nvidia.com/use-gputype": "A",
        "nvidia.com/numa-bind": "true",
        "hami.io/vgpu-node": "n1",
        "hami.io/vgpu-devices-allocated": "a,NVIDIA,1,1:;",
    },
    labels={"scheduling.x-k8s.io/pod-group": "g"},
    ownerReferences=[{"kind": "ReplicaSet", "name": "x", "controller": True}],
    creationTimestamp="2026-01-01T00:00:00Z",
    deletionTimestamp=None,
    resourceVersion="1",
)
FULL["spec"] |= {
    "initContainers": [
        {
            "name": "i",
            "restartPolicy": "Always",
            "resources": {"limits": {"nvidia.com/gpu": 1}, "requests": {}},
        }
    ],
    "schedulerName": "",
    "nodeName": None,
    "runtimeClassName": None,
    "schedulingGates": [{"name": "g"}],
    "schedulingGroup": {"podGroupName": "x"},
}
FULL["spec"]["containers"][0] |= {"env": [{"name": "A"}], "securityContext": {"privileged": False}}
FULL["spec"]["containers"][0]["resources"]["limits"] |= {
    "nvidia.com/gpumem-percentage": "50",
    "cpu": "1",
    "amd.com/gpu": "0",
    "iluvatar.ai/BI-V150-vgpu": "0",
    "mthreads.com/vgpu": "1",
    "huawei.com/Ascend910B3-memory": "1",
}
FULL["status"] = {
    "phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "x", "message": "y"}],
    "initContainerStatuses": [{"state": {"terminated": {"exitCode": 0}}}],
}
BODIES: dict[str, tuple[str, Json]] = {
    "filter": ("/filter", {"Pod": FULL, "NodeNames": ["n1", "n2", None]}),
    "simulation": ("/filter", {"Pod": FULL, "Nodes": {"items": [node_json("t", "x"), node_json("s"), None]}}),
    "bind": ("/bind", {"PodName": "p", "PodNamespace": "default", "PodUID": "u", "Node": "n1"}),
    "webhook": (
        "/webhook",
        {
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "request": {"uid": "u", "namespace": "default", "operation": "CREATE", "object": FULL},
        },
    ),
}
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, 2**31, 2**63, 10**30, [], [None], [[]], {}, {"": None}, {"x": {"y": []}},
    "", "1" * 30, "9" * 5000, "1e400", "1e999999999", "NaN", "-1", "9999999999Ei", "-5Ki", "Ki", "+", "²",
    "\uff11", "\ud800", "a\x00b", "x" * 3000, "slot=1,core=1", ",", ";:,", "2026-13-45",
]  # fmt: skip


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    yield at
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in members:
        yield from paths(item, (*at, key))


def changed(body: Any, path: Path, value: Any) -> Any:
    """Return the body with another value at a place; the place may be gone after an earlier change."""
    if not path:
        return value
    body = copy.deepcopy(body)
    at = body
    try:
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
    except (LookupError, TypeError):
        return body
    return body


@pytest.fixture(scope="module")
def every_vendor() -> Iterator[Door]:
    """Yield a door with all vendors, two nodes, and a pod that can be bound."""
    text = vendortable.CONFIG.read_text(encoding="utf-8")
    door = Door(bind_wait=0.0, scheduler_name="hami-scheduler", config=text)
    for name, card in (("n1", "a"), ("n2", "b")):
        door.register(gpu_node(name, card))
    yield door
    door.close()


def assert_is_answered(door: Door, path: str, body: bytes) -> None:
    answer = door.ask("POST", path, body)
    assert answer.status in (200, 413)
    assert isinstance(answer.json(), dict)
    assert b"internal error" not in answer.body, answer.body


@pytest.mark.parametrize("name", BODIES)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_odd_values_anywhere_get_an_answer(every_vendor: Door, name: str, data: st.DataObject) -> None:
    """Parity policy 4: wrong types, huge numbers, halves of characters, on every member that is read."""
    path, body = BODIES[name]
    places = list(paths(body))
    wrong: Any = body
    for _ in range(data.draw(st.integers(1, 3))):
        wrong = changed(wrong, data.draw(st.sampled_from(places)), data.draw(st.sampled_from(ODD)))
    assert_is_answered(every_vendor, path, json.dumps(wrong).encode())


@pytest.mark.parametrize("path", ["/filter", "/bind", "/webhook"])
@pytest.mark.parametrize(
    "body",
    [
        b'{"a": ' + b"1" * 5000 + b"}",
        b"[" * 100_000,
        b'{"Pod":' * 5000,
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'"\\ud800"',
        b"\xff\xfe",
        b"\x00",
        b"a: 2020-13-45",
        b"a: 0001-01-01T00:00:00+23:59",
        b"!!timestamp foo",
        b"!!bool foo",
        b'!!int ""',
        b"!!binary x",
        b"!!python/object:os.system {}",
        b"? [a]\n: b\n",
        b"&a [*a]",
        b"request: &a {uid: x, object: *a}",
    ],
)
def test_bodies_that_are_not_json_get_an_answer(every_vendor: Door, path: str, body: bytes) -> None:
    """W-1, H-7: whatever the parsers raise."""
    assert_is_answered(every_vendor, path, body)


def test_yaml_that_multiplies_itself_is_refused(every_vendor: Door) -> None:
    """W-1 takes YAML: ten references to ten references would be gigabytes once they are written out."""
    levels = [b"a0: &a0 [x]"] + [
        b"a%d: &a%d [%s]" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 12)
    ]
    answer = every_vendor.post("/webhook", b"request: {uid: u}\n" + b"\n".join(levels))
    status = answer.json()["response"]["status"]
    assert (status["code"], "aliases" in status["message"]) == (400, True)


def test_short_yaml_is_read_as_json_would_be(every_vendor: Door) -> None:
    """W-1 (X): keys that are no texts become texts, and so do times."""
    text = b"request: {uid: u, object: {metadata: {annotations: {1: x}, creationTimestamp: 2026-01-01}}}"
    answer = every_vendor.post("/webhook", text)
    assert answer.json()["response"]["status"]["message"] == "pod has no containers"


def test_halves_of_characters_become_the_replacement_character(every_vendor: Door) -> None:
    """As Go's decoder has it: nothing in here can write them out again."""
    body = json.dumps({"Pod": pod_json("half\ud800"), "NodeNames": ["n\udfff"]}).encode()
    assert every_vendor.post("/filter", body).json()["FailedNodes"] == {"n\ufffd": "node unregistered"}
    review = json.dumps({"request": {"uid": "\ud800", "object": {"spec": {}}}}).encode()
    assert every_vendor.post("/webhook", review).json()["response"]["uid"] == "\ufffd"
