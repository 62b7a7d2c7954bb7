"""AdmissionReview in and out (W-1 to W-3, K2)."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from scheduler_app import bootstrap
from tests.extender.door import Door, pod_json
from tests.fakes.jsonpatch import apply


def bare(code: int, message: str) -> dict[str, Any]:
    status = {"metadata": {}, "message": message, "code": code}
    return {"response": {"uid": "", "allowed": False, "status": status}}


def review(door: Door, raw: Any, **head: Any) -> dict[str, Any]:
    body = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1", **head}
    body["request"] = {"uid": "u1", "namespace": "default", "object": raw}
    answer = door.post("/webhook", {key: value for key, value in body.items() if value is not None})
    assert answer.status == 200
    assert answer.body.endswith(b"\n")
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("version", ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"])
def test_the_answer_echoes_version_and_uid(door: Door, version: str) -> None:
    """W-2, K2.1-3, CFG-13."""
    found = review(door, pod_json(mem=None), apiVersion=version)
    assert found == {
        "kind": "AdmissionReview",
        "apiVersion": version,
        "response": {"uid": "u1", "allowed": True, "status": {"metadata": {}, "code": 200}},
    }


def test_w_2_only_what_came_is_echoed(door: Door) -> None:
    assert "kind" not in review(door, pod_json(mem=None), kind=None)
    both = review(door, pod_json(mem=None), kind=None, apiVersion=None)
    assert (both["kind"], both["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")


def test_a_patch_is_base64_of_operations_that_apply(door: Door) -> None:
    """W-3, K2.2-3."""
    raw = pod_json()
    response = review(door, raw)["response"]
    operations = json.loads(base64.b64decode(response["patch"]))
    assert response["patchType"] == "JSONPatch"
    assert apply(raw, operations)["spec"]["schedulerName"] == "hami-scheduler"


def test_a_denial_is_403_forbidden(door: Door) -> None:
    """Appendix C."""
    found = review(
        door, {"metadata": {"name": "p"}, "spec": {"containers": []}}, apiVersion="admission.k8s.io/v1"
    )
    assert found["response"] == {
        "uid": "u1",
        "allowed": False,
        "status": {"metadata": {}, "message": "pod has no containers", "reason": "Forbidden", "code": 403},
    }


def test_w15_a_resource_written_as_an_annotation_is_told(door: Door) -> None:
    """The pod gets a whole card, so it must hear of it; nothing else is changed."""
    raw = pod_json(mem=None, annotations={"nvidia.com/gpumem": "3000"})
    raw["spec"]["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": "1"}
    response = review(door, raw)["response"]
    assert response["allowed"] is True
    assert response["warnings"] == [
        "annotation nvidia.com/gpumem has no effect: it belongs under resources.limits of a container"
    ]
    assert review(door, pod_json())["response"].get("warnings") is None


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("nvidia.com/gpumen", "nvidia.com/gpumem"),
        ("nvidia.com/gpumem-percent", None),
        ("nvidia.com/gpumem-percentag", "nvidia.com/gpumem-percentage"),
        ("nvidia.com/priorty", "nvidia.com/priority"),
        ("cambricon.com/vmlus", "cambricon.com/vmlu"),
        ("example.com/gpumen", None),
    ],
)
def test_f35_a_misspelt_resource_is_told(door: Door, misspelt: str, meant: str | None) -> None:
    """Of every vendor's names, as they are configured."""
    raw = pod_json()
    raw["spec"]["containers"][0]["resources"]["limits"][misspelt] = "8000"
    warnings = review(door, raw)["response"].get("warnings", [])
    told = [f"container main: {misspelt} is no resource of ours; is {meant} meant?"]
    assert warnings == (told if meant else [])


def test_warnings_are_told_and_kept_short(door: Door) -> None:
    raw = pod_json(annotations={"hami.io/vgpu-node": "n1"})
    (warning,) = review(door, raw)["response"]["warnings"]
    assert warning.startswith("annotation hami.io/vgpu-node removed")
    long = pod_json()
    long["spec"]["containers"][0]["name"] = "x" * 500
    long["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpumem"] = "1.5"
    assert all(len(text) <= 256 for text in review(door, long)["response"]["warnings"])


@pytest.mark.parametrize(("operation", "count"), [("CREATE", 1), (None, 1), ("", 1), ("UPDATE", 0), (7, 0)])
def test_what_the_scheduler_wrote_goes_from_new_pods_only(door: Door, operation: Any, count: int) -> None:
    request = {
        "uid": "u",
        "operation": operation,
        "object": pod_json(annotations={"hami.io/vgpu-node": "n1"}),
    }
    response = door.post("/webhook", {"request": request}).json()["response"]
    assert len(response.get("warnings", ())) == count


def test_an_empty_body(door: Door) -> None:
    """W-1."""
    answer = door.post("/webhook", b"")
    assert answer.json() == bare(400, "request body is empty")
    assert answer.body == (
        b'{"response":{"uid":"","allowed":false,"status":{"metadata":{},'
        b'"message":"request body is empty","code":400}}}\n'
    )


@pytest.mark.parametrize("body", [b"  ", b"null", b"{}", b'{"request":null}'])
def test_a_review_without_a_request_has_no_content(door: Door, body: bytes) -> None:
    """W-1 (X)."""
    found = door.post("/webhook", body).json()
    assert found["kind"] == "AdmissionReview"
    assert found["response"]["status"]["message"] == "there is no content to decode"
    assert found["response"]["status"]["code"] == 400


def test_a_body_of_seven_mebibytes_is_too_large(door: Door) -> None:
    """W-1: the size comes before the content type; the HTTP status stays 200."""
    limit = 7 * 1024 * 1024
    answer = door.ask("POST", "/webhook", b" " * limit, headers={"content-type": "text/plain"})
    assert answer.status == 200
    assert answer.json() == bare(413, f"request entity is too large; limit is {limit} bytes")


@pytest.mark.parametrize("kind", ["", "text/json", "application/json; charset=utf-8"])
def test_the_content_type_must_be_exact(door: Door, kind: str) -> None:
    answer = door.ask("POST", "/webhook", b"{}", headers={"content-type": kind} if kind else {})
    assert answer.json() == bare(400, f"contentType={kind}, expected application/json")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{", "body: not JSON"),
        (b"[]", "body: expected an object"),
        (b"{} x", "body: not JSON"),
        (b'{"request":[]}', "request: expected an object"),
        (b'{"kind":1,"request":{}}', "kind: expected a text"),
        (b'{"apiVersion":[],"request":{}}', "apiVersion: expected a text"),
        (b'{"request":{"uid":1}}', "request.uid: expected a text"),
        (b'{"request":{"namespace":1}}', "request.namespace: expected a text"),
        (b"[" * 10_000, "body: not JSON"),
        (b"\xff", "body: not JSON"),
    ],
)
def test_a_malformed_review_names_the_field(door: Door, body: bytes, field: str) -> None:
    answer = door.post("/webhook", body)
    assert answer.status == 200
    found = answer.json()["response"]
    assert found["status"]["code"] == 400
    assert found["status"]["message"].startswith(field)
    assert not found["allowed"]


@pytest.mark.parametrize("key", ["Request", "REQUEST"])
def test_member_names_are_exact_here(door: Door, key: str) -> None:
    """W-1 (X)."""
    found = door.post("/webhook", {key: {"uid": "u", "object": pod_json()}}).json()
    assert found["response"]["status"]["message"] == "there is no content to decode"


def test_a_malformed_pod_keeps_the_review_s_uid(door: Door) -> None:
    found = review(door, {"spec": []})["response"]
    assert (found["uid"], found["status"]["code"]) == ("u1", 400)
    assert "spec" in found["status"]["message"]


def test_hostile_nesting_inside_the_pod_is_answered(door: Door) -> None:
    deep = b'{"x":' * 900 + b"1" + b"}" * 900
    body = b'{"request":{"uid":"u1","object":{"spec":{"containers":[{"name":"c"}],"deep":' + deep + b"}}}}"
    found = door.post("/webhook", body).json()["response"]
    assert found["status"]["code"] in (200, 400)


def test_a_crash_inside_is_code_500_and_http_200(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    """W-3."""
    bootstrap.install(replace(door.parts, admission=None))  # type: ignore[arg-type]  # a bug
    found = review(door, pod_json())["response"]
    assert (found["allowed"], found["status"]["code"]) == (False, 500)
    assert found["status"]["message"] == "internal error: AttributeError"
    assert "admission failed uid=u1" in caplog.text
