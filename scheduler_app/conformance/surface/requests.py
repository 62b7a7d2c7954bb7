"""Requests that the reference drops, cuts off or answers with nothing (Q-6, Q-7, Q-9, Q-11, Q-50)."""

from typing import Any

import orjson

from scheduler_app.conformance.surface.stage import Stage
from scheduler_app.core import annotations
from scheduler_app.core.predicate import Backends, requests_of
from scheduler_app.kube import decode

Json = dict[str, Any]
NOTHING = {"Nodes": None, "NodeNames": None, "FailedNodes": None, "FailedAndUnresolvableNodes": None}
JSON_HEADERS = {"content-type": "application/json"}
CUT_OFF = "unexpected EOF"
TOO_DEEP = "max depth"
ONE_MIB = 1 << 20


def unsynced(expected: Json, actual: Json) -> Json:
    """Q-11, H-15: an error instead of waiting for ever; what is wrong with the body comes first."""
    if expected.get("body_json", {}).get("Error"):
        return expected
    error = actual.get("body_json", {}).get("Error") or "<reason>"
    return {"status": 200, "headers": JSON_HEADERS, "body_json": {**NOTHING, "Error": error}}


def filtered(stage: Stage, step: Json, expected: Json, actual: Json) -> Json:
    """Restate an answer of ``/filter``."""
    body = step.get("body")
    if isinstance(body, dict):
        if expected.get("connection_closed"):
            expected = _survived(body)
        pod = body.get("Pod")
        if (
            body.get("Nodes") is not None
            and pod
            and not any(requests_of(decode.decode_pod(pod), stage.world.backends))
        ):
            echoed = {"Nodes": body["Nodes"], "NodeNames": body.get("NodeNames")}
            return {**expected, "body_json": {**expected["body_json"], **echoed}}
    return sized(stage, step, expected, actual)


def sized(stage: Stage, step: Json, expected: Json, actual: Json) -> Json:
    """Q-9: a large body is read whole, one that is nested too deeply is 413 with the reason."""
    return _sized(step, expected, actual, stage.world.backends)


def _survived(body: Json) -> Json:
    """Q-6: no candidates are none; Q-50: a node whose text is malformed has no cards."""
    nodes = body.get("Nodes")
    names = [item["metadata"]["name"] for item in (nodes or {}).get("items", ())]
    failed = dict.fromkeys(names, "node unregistered")
    answer = {**NOTHING, "FailedNodes": failed, "Error": ""}
    result: Json = {"status": 200, "headers": JSON_HEADERS, "body_json": answer}
    if nodes is not None:
        return result
    meta = body["Pod"]["metadata"]
    about = {"apiVersion": "v1", "kind": "Pod", **{key: meta[key] for key in ("name", "namespace", "uid")}}
    event = {
        "verb": "create",
        "type": "Warning",
        "reason": "FilteringFailed",
        "message": "no available node, 0 nodes do not meet",
        "namespace": meta["namespace"],
        "component": "hami-scheduler",
        "reporting_component": "hami-scheduler",
        "object": about,
        "count": 1,
    }
    return {**result, "events": [event]}


def _sized(step: Json, expected: Json, actual: Json, backends: Backends) -> Json:
    error = (expected.get("body_json") or {}).get("Error", "")
    if TOO_DEEP in error and "nested" in (actual.get("body_json") or {}).get("Error", ""):
        return {**expected, "status": 413}
    text = "".join(part.get("text") or part["repeat"] * part["times"] for part in step.get("body_parts", ()))
    if error != CUT_OFF or len(text) <= ONE_MIB:
        return expected
    body = orjson.loads(text)
    if step["path"] == "/bind":
        return {**expected, "body_json": {"Error": f'pod "{body["PodName"]}" not found'}}
    names = body.get("NodeNames")
    if any(requests_of(decode.decode_pod(body["Pod"]), backends)):
        return {**expected, **_placed(names, actual)}
    return {**expected, "body_json": {**NOTHING, "NodeNames": names, "Error": ""}}


def _placed(names: list[str], actual: Json) -> Json:
    """Return a decision for one of the nodes asked about, that is written to the pod and told once."""
    writes, told = actual.get("writes", []), actual.get("events", [])
    written = [entry["body"]["metadata"]["annotations"].get(annotations.ASSIGNED_NODE) for entry in writes]
    taken = [name for name in names if [name] == written and f"({name})" in told[0]["message"]]
    answer = {**NOTHING, "NodeNames": taken or names, "Error": ""}
    return {"body_json": answer, "writes": writes[:1], "events": told[:1]}
