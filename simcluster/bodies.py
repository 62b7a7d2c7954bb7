"""Request bodies and answers: what the server reads and in which form it writes (K4.4)."""

from typing import Any

import orjson
import yaml

from simcluster import errors, verbs
from simcluster.httpd import Reply, Request
from simcluster.objects import Json

_PATCH_KINDS = {
    "application/merge-patch+json": verbs.MERGE,
    "application/strategic-merge-patch+json": verbs.STRATEGIC,
    "application/json-patch+json": verbs.JSON_PATCH,
    "application/apply-patch+yaml": verbs.APPLY,
}
_JSON = ("", "application/json", "*/*")
_YAML = ("application/yaml", "text/yaml")
_UNACCEPTABLE = "only the following media types are accepted: application/json"


def content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def read_object(request: Request) -> Json:
    """Return the body as an object; StatusError 415 for protobuf, 400 for what is no object."""
    kind = content_type(request)
    if kind not in _JSON + _YAML:
        text = f"the body of the request was in an unknown format - accepted media types include: {_JSON[1]}"
        raise errors.StatusError(415, "UnsupportedMediaType", text)
    body = _parsed(request.body, is_yaml=kind in _YAML)
    if not isinstance(body, dict):
        raise errors.bad_request("the body of the request is not an object")
    return body


def read_options(request: Request) -> Json:
    """Return DeleteOptions, empty without a body."""
    return read_object(request) if request.body.strip() else {}


def read_patch(request: Request) -> verbs.Patch:
    """Return the patch; StatusError 415 for an unknown kind of patch."""
    kind = _PATCH_KINDS.get(content_type(request))
    if kind is None:
        accepted = ", ".join(_PATCH_KINDS)
        text = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
        raise errors.StatusError(415, "UnsupportedMediaType", text)
    return verbs.Patch(kind, _parsed(request.body, is_yaml=kind == verbs.APPLY))


def check_accept(request: Request) -> None:
    """StatusError 406 for a client that does not take JSON."""
    accept = request.headers.get("accept", "")
    words = ("json", "*/*", "application/*", "yaml", "text/", "openapi")
    if accept and not any(word in accept for word in words):
        raise errors.StatusError(406, "NotAcceptable", _UNACCEPTABLE)


def json_reply(body: Any, *, status: int = 200, warnings: list[str] | None = None) -> Reply:
    headers = [("Warning", f'299 - "{_quoted(text)}"') for text in warnings or []]
    return Reply(status, orjson.dumps(body), headers=headers)


def error_reply(error: errors.StatusError) -> Reply:
    reply = json_reply(error.body(), status=error.code)
    if error.code == 429:
        reply.headers.append(("Retry-After", "1"))
    return reply


def _quoted(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')


def _parsed(raw: bytes, *, is_yaml: bool) -> Any:
    try:
        return yaml.safe_load(raw) if is_yaml else orjson.loads(raw)
    except (ValueError, yaml.YAMLError) as exc:
        raise errors.bad_request(f"error decoding the body: {exc}") from exc
