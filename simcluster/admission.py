"""Calls the registered mutating webhooks as the API server does, and judges what they answer (K2)."""

import base64
import binascii
import logging
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from simcluster import errors, patches
from simcluster.callers import Caller, CallError
from simcluster.objects import Json, copy, new_uid
from simcluster.resources import Resource
from simcluster.selectors import object_selector
from simcluster.store import Store

logger = logging.getLogger(__name__)

_CONFIGURATIONS = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
_VERSIONS = ("v1", "v1beta1")
_DEFAULT_TIMEOUT_SECONDS = 10
_USER = {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}


class CallingError(Exception):
    """The webhook could not be asked or its answer cannot be used: failurePolicy decides (K2.2-1, K2.2-2)."""


@dataclass(frozen=True, slots=True)
class Target:
    """The object under admission."""

    resource: Resource
    body: Json
    dry_run: bool


class Webhooks:
    """The admission of new objects; configurations are read from the store each time."""

    def __init__(self, store: Store, caller: Caller, *, service_url: str = "") -> None:
        """A clientConfig with ``service`` is called at service_url, there being no service network."""
        self._store, self._caller, self._service_url = store, caller, service_url

    def admit(self, resource: Resource, body: Json, *, dry_run: bool) -> tuple[Json, list[str]]:
        """Return the object as all matching webhooks left it, and their warnings."""
        warnings: list[str] = []
        for record in self._store.all(_CONFIGURATIONS)[0]:  # in the order of the configurations' names
            for webhook in record.body.get("webhooks") or []:
                target = Target(resource, body, dry_run)
                if self._concerns(webhook, target):
                    body = self._ask(webhook, target, warnings)
        return body, warnings

    def _concerns(self, webhook: Json, target: Target) -> bool:
        if not any(_rule_matches(rule, target.resource) for rule in webhook.get("rules") or []):
            return False
        namespace = target.body["metadata"].get("namespace")
        record = self._store.get("namespaces", namespace) if namespace else None
        in_namespace = record is None or object_selector(webhook.get("namespaceSelector"))(record.body)
        return in_namespace and object_selector(webhook.get("objectSelector"))(target.body)

    def _ask(self, webhook: Json, target: Target, warnings: list[str]) -> Json:
        name = webhook["name"]
        if target.dry_run and webhook.get("sideEffects") not in {"None", "NoneOnDryRun"}:
            raise errors.bad_request(f'admission webhook "{name}" does not support dry run')
        try:
            response = self._call(webhook, target)
            patch = _decoded_patch(response)
        except CallingError as exc:
            logger.warning("webhook failed name=%s error=%s", name, exc)
            if webhook.get("failurePolicy", "Fail") == "Ignore":
                return target.body
            raise errors.internal(f'failed calling webhook "{name}": {exc}') from exc
        warnings += response.get("warnings") or []
        if not response.get("allowed"):
            raise _denial(name, response.get("status") or {})
        try:
            return patches.apply_json_patch(target.body, patch)
        except patches.PatchError as exc:
            raise errors.internal(str(exc)) from exc

    def _call(self, webhook: Json, target: Target) -> Json:
        seconds = webhook.get("timeoutSeconds") or _DEFAULT_TIMEOUT_SECONDS
        review = _review(webhook, target)
        url = self._url(webhook) + "?" + urlencode({"timeout": f"{seconds}s"})
        try:
            answer = self._caller.post(url, orjson.dumps(review), timeout_seconds=seconds)
        except CallError as exc:
            raise CallingError(str(exc)) from exc
        if not 200 <= answer.status < 300:
            raise CallingError(f"an error on the server (status {answer.status})")
        return _response(answer.body, review)

    def _url(self, webhook: Json) -> str:
        config = webhook.get("clientConfig") or {}
        if config.get("url"):
            return str(config["url"])
        if not self._service_url:
            raise CallingError("no endpoints available for the webhook's service")
        return self._service_url


def _rule_matches(rule: Json, resource: Resource) -> bool:
    return (
        _has(rule.get("operations"), "CREATE")
        and _has(rule.get("apiGroups"), resource.group)
        and _has(rule.get("apiVersions"), resource.version)
        and _has(rule.get("resources"), resource.plural)
    )


def _has(values: list[str] | None, wanted: str) -> bool:
    return any(value in {"*", "*/*", wanted} for value in values or [])


def _review(webhook: Json, target: Target) -> Json:
    resource, meta = target.resource, target.body["metadata"]
    versions = webhook.get("admissionReviewVersions") or ["v1"]
    version = next((version for version in versions if version in _VERSIONS), "v1")
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    place = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    request = {
        "uid": new_uid(),
        "kind": kind,
        "resource": place,
        "requestKind": kind,
        "requestResource": place,
        "name": "" if meta.get("generateName") else meta.get("name", ""),
        "namespace": meta.get("namespace", ""),
        "operation": "CREATE",
        "userInfo": _USER,
        "object": copy(target.body),
        "oldObject": None,
        "dryRun": target.dry_run,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    return {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": request}


def _response(raw: bytes, review: Json) -> Json:
    """Return the response part; version 1 is held to its rules, v1beta1 is not (K2.1-3)."""
    try:
        answer = orjson.loads(raw)
    except ValueError as exc:
        raise CallingError(f"couldn't get version/kind; json parse error: {exc}") from exc
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(response, dict):
        raise CallingError("webhook response was absent")
    if review["apiVersion"].endswith("/v1"):
        _check_v1(answer, response, review)
    return response


def _check_v1(answer: Json, response: Json, review: Json) -> None:
    if (answer.get("apiVersion"), answer.get("kind")) != (review["apiVersion"], review["kind"]):
        found = f"{answer.get('apiVersion')}, Kind={answer.get('kind')}"
        raise CallingError(f"expected webhook response of {review['apiVersion']}, got {found}")
    if response.get("uid") != review["request"]["uid"]:
        raise CallingError(f'expected response.uid="{review["request"]["uid"]}", got "{response.get("uid")}"')
    if bool(response.get("patch")) != bool(response.get("patchType")):
        raise CallingError("webhook returned response.patch without response.patchType, or the reverse")


def _decoded_patch(response: Json) -> list[dict[str, Any]]:
    text = response.get("patch")
    if not text:
        return []
    try:
        patch = orjson.loads(base64.b64decode(text, validate=True))
    except (ValueError, TypeError, binascii.Error) as exc:
        raise CallingError(f"the patch cannot be decoded: {exc}") from exc
    if not isinstance(patch, list):
        raise CallingError("the patch is not a list of operations")
    return patch


def _denial(name: str, status: Json) -> errors.StatusError:
    why = status.get("message") or status.get("reason")
    text = f"denied the request: {why}" if why else "denied the request without explanation"
    code = max(int(status.get("code") or 400), 400)
    return errors.StatusError(code, status.get("reason") or "Forbidden", f'admission webhook "{name}" {text}')
