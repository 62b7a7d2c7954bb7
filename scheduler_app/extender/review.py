"""AdmissionReview JSON, v1 and v1beta1: what comes in, what goes out (W-1 to W-3)."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from scheduler_app.engine.admission import NO_CONTENT, Verdict
from scheduler_app.extender import lenient

LIMIT_BYTES = 7 * 1024 * 1024
CONTENT_TYPE = "application/json"
DEFAULT_KIND = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}
WARNING_CHARACTERS = 240  # the API server may cut at 256 (K2.1-2)


@dataclass(frozen=True, slots=True)
class Review:
    """A request that could be read. ``head`` is the kind and apiVersion to echo.

    ``is_new``: the pod is being created. The chart asks for nothing else, but a rule may be widened.
    """

    head: Mapping[str, str]
    uid: str
    namespace: str
    object: Any
    is_new: bool = True


def refuse_transport(body: bytes, content_type: str) -> dict[str, Any] | None:
    """Return the answer to a body that is not even looked at, None when it is to be read (W-1)."""
    if not body:
        return bare(400, "request body is empty")
    if len(body) >= LIMIT_BYTES:
        return bare(413, f"request entity is too large; limit is {LIMIT_BYTES} bytes")
    if content_type != CONTENT_TYPE:
        return bare(400, f"contentType={content_type}, expected {CONTENT_TYPE}")
    return None


def parse(body: bytes) -> Review | dict[str, Any]:
    """Return the review, or the answer to a body that cannot be read; member names are exact (W-1)."""
    try:
        raw = lenient.decoded(body) if body.strip() else {}
    except lenient.UnreadableError as exc:
        return bare(400, f"body: not JSON ({exc})")
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        return bare(400, "body: expected an object")
    request = raw.get("request")
    if not isinstance(request, (dict, type(None))):
        return bare(400, "request: expected an object")
    for name, value in (("kind", raw.get("kind")), ("apiVersion", raw.get("apiVersion"))):
        if not isinstance(value, (str, type(None))):
            return bare(400, f"{name}: expected a text")
    head = {key: raw[key] for key in ("kind", "apiVersion") if raw.get(key)} or DEFAULT_KIND
    if request is None:
        return answer(Review(head, "", "", None), Verdict(400, NO_CONTENT))
    for name in ("uid", "namespace"):
        if not isinstance(request.get(name), (str, type(None))):
            return bare(400, f"request.{name}: expected a text")
    return Review(
        head,
        request.get("uid") or "",
        request.get("namespace") or "",
        request.get("object"),
        is_new=request.get("operation") in (None, "", "CREATE"),
    )


def bare(code: int, message: str) -> dict[str, Any]:
    """Return a review without kind, for bodies that could not be read."""
    return {"response": _response("", Verdict(code, message))}


def answer(review: Review, verdict: Verdict) -> dict[str, Any]:
    return {**review.head, "response": _response(review.uid, verdict)}


def _response(uid: str, verdict: Verdict) -> dict[str, Any]:
    status: dict[str, Any] = {"metadata": {}}
    if verdict.message:
        status["message"] = verdict.message
    if verdict.code == 403:
        status["reason"] = "Forbidden"
    status["code"] = verdict.code
    response: dict[str, Any] = {"uid": uid, "allowed": verdict.is_allowed, "status": status}
    if verdict.patch:
        response["patch"] = base64.b64encode(orjson.dumps(list(verdict.patch))).decode("ascii")
        response["patchType"] = "JSONPatch"
    if verdict.warnings:
        response["warnings"] = [warning[:WARNING_CHARACTERS] for warning in verdict.warnings]
    return response
