"""Rules of one kind of object for creation and update: what is kept, what is filled in, what is refused."""

import re
from typing import Any

from simcluster import errors, podspec, quantities
from simcluster.objects import Json, generated_name, labels, new_uid, time_text
from simcluster.resources import Resource

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.:]*[a-z0-9])?")
_LONGEST_NAME, _LONGEST_LABEL = 253, 63
_SERVER_OWNED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "namespace")
_STATUS_META = ("labels", "annotations", "finalizers")  # what a write to /status may change beside the status
_NAME_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character"
)


def prepare_create(resource: Resource, body: Json, namespace: str) -> None:
    """Complete a new object in place up to admission; StatusError 400 for the wrong kind or namespace."""
    meta = _checked_meta(resource, body)
    if resource.namespaced and meta.setdefault("namespace", namespace) != namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if not resource.namespaced:
        meta.pop("namespace", None)
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = generated_name(meta["generateName"])
    for name in ("uid", "resourceVersion", "deletionTimestamp", "selfLink"):
        meta.pop(name, None)
    set_defaults(resource, body)


def finish_create(resource: Resource, body: Json) -> None:
    """Complete a new object in place after admission; StatusError 422 when it is invalid."""
    set_defaults(resource, body)
    validate(resource, body)
    body["metadata"]["uid"] = new_uid()
    body["metadata"]["creationTimestamp"] = time_text()
    if resource.plural == "pods":
        podspec.set_initial_status(body)
    if resource.plural == "namespaces":
        body["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = body["metadata"]["name"]
        body["status"] = {"phase": "Active"}


def prepare_update(resource: Resource, old: Json, new: Json, subresource: str) -> Json:
    """Return the object to store: new, with what this endpoint may not change taken from old (K4.5-8)."""
    _checked_meta(resource, new)
    for name in _SERVER_OWNED:
        new["metadata"].pop(name, None)
        if name in old["metadata"]:
            new["metadata"][name] = old["metadata"][name]
    if subresource == "status":
        new = _status_update(old, new)
    elif "status" in resource.subresources:
        new.pop("status", None)
        if "status" in old:
            new["status"] = old["status"]
    set_defaults(resource, new)
    validate(resource, new)
    if resource.plural == "pods":
        podspec.check_update(old, new)
    return new


def set_defaults(resource: Resource, body: Json) -> None:
    """Fill in what may be left out and write quantities in canonical form (VB-7)."""
    body["apiVersion"], body["kind"] = resource.api_version, resource.kind
    try:
        if resource.plural == "pods":
            podspec.set_defaults(body)
        for part, field in (("status", "capacity"), ("status", "allocatable"), ("spec", "hard")):
            quantities.canonicalise((body.get(part) or {}).get(field) or {})
        for field in ("hard", "used"):
            quantities.canonicalise((body.get("status") or {}).get(field) or {})
    except ValueError as exc:
        raise errors.bad_request(
            f"{resource.kind} in version {resource.version!r} cannot be handled: {exc}"
        ) from exc


def validate(resource: Resource, body: Json) -> None:
    """Raise StatusError 422 for a bad name, a bad label, or what a pod may not say."""
    name = body["metadata"].get("name", "")
    causes = []
    if not name:
        causes.append(
            _cause("FieldValueRequired", "Required value: name or generateName is required", "name")
        )
    elif not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        causes.append(_cause("FieldValueInvalid", f'Invalid value: "{name}": {_NAME_RULE}', "name"))
    for value in labels(body).values():
        if len(value) > _LONGEST_LABEL:
            text = f'Invalid value: "{value}": must be no more than 63 characters'
            causes.append(_cause("FieldValueInvalid", text, "labels"))
    if causes:
        raise errors.invalid(resource.kind, name, causes)
    if resource.plural == "pods":
        podspec.validate(body)


def _checked_meta(resource: Resource, body: Json) -> Json:
    kind, version = body.get("kind"), body.get("apiVersion")
    if (kind or resource.kind) != resource.kind or (version or resource.api_version) != resource.api_version:
        raise errors.bad_request(
            f"the API version in the data ({version}, {kind}) does not match the expected API version "
            f"({resource.api_version}, {resource.kind})"
        )
    meta = body.setdefault("metadata", {})
    if not isinstance(meta, dict):
        raise errors.bad_request("metadata: expected an object")
    for field in ("labels", "annotations"):
        _check_texts(field, meta.get(field))
    checked: Json = meta
    return checked


def _check_texts(field: str, found: Any) -> None:
    if found is not None and not (
        isinstance(found, dict) and all(isinstance(value, str) for value in found.values())
    ):
        raise errors.bad_request(
            f"json: cannot unmarshal into Go struct field ObjectMeta.metadata.{field} of type string"
        )


def _status_update(old: Json, new: Json) -> Json:
    meta = dict(old["metadata"])
    for name in _STATUS_META:
        if name in new["metadata"]:
            meta[name] = new["metadata"][name]
        else:
            meta.pop(name, None)
    kept = {name: value for name, value in old.items() if name not in {"metadata", "status"}}
    return kept | {"metadata": meta, "status": new.get("status") or {}}


def _cause(reason: str, message: str, field: str) -> Json:
    return {"reason": reason, "message": message, "field": f"metadata.{field}"}
