"""Label and field selectors: text to a predicate over objects (K4.5-1, K4.5-2)."""

import re
from collections.abc import Callable

from simcluster import errors
from simcluster.objects import Json, labels, lookup

Predicate = Callable[[Json], bool]

_SET = re.compile(r"(!?)([^\s,!=()]+)(?:\s+(in|notin)\s+\(([^)]*)\))?")
_EQUAL = re.compile(r"([^\s,!=()]+)\s*(==|=|!=)\s*([^\s,=!()]*)")
_COMMON = ("metadata.name", "metadata.namespace")
_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_POD_FIELDS = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
)
_EVENT_FIELDS = ("reason", "reportingComponent", "source", "type")
FIELDS: dict[str, tuple[str, ...]] = {
    "pods": _POD_FIELDS,
    "nodes": ("spec.unschedulable",),
    "events": tuple(f"involvedObject.{part}" for part in _INVOLVED) + _EVENT_FIELDS,
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "jobs": ("status.successful",),
    "replicasets": ("status.replicas",),
}


def everything(body: Json) -> bool:
    return True


def label_selector(text: str) -> Predicate:
    """Read ``a=b,c!=d,e in (f,g),!h``; StatusError 400 when it cannot be read."""
    if not text.strip():
        return everything
    terms = [_label_term(part.strip()) for part in re.split(r",(?![^(]*\))", text)]
    return lambda body: all(term(labels(body)) for term in terms)


def object_selector(selector: Json | None) -> Predicate:
    """Return the predicate of a ``{matchLabels, matchExpressions}`` object; empty selects everything."""
    selector = selector or {}
    terms = [_expression(key, "In", [value]) for key, value in (selector.get("matchLabels") or {}).items()]
    for row in selector.get("matchExpressions") or []:
        terms.append(_expression(row["key"], row["operator"], row.get("values") or []))
    return lambda body: all(term(labels(body)) for term in terms)


def field_selector(text: str, *, plural: str) -> Predicate:
    """Read ``spec.nodeName=n,status.phase!=Failed``; StatusError 400 for an unknown field."""
    if not text.strip():
        return everything
    known = _COMMON + FIELDS.get(plural, ())
    terms = [_field_term(part.strip(), known) for part in text.split(",")]
    return lambda body: all((_field(body, path) == value) is wanted for path, value, wanted in terms)


def _label_term(text: str) -> Callable[[dict[str, str]], bool]:
    if equal := _EQUAL.fullmatch(text):
        return _expression(equal[1], "NotIn" if equal[2] == "!=" else "In", [equal[3]])
    if not (parts := _SET.fullmatch(text)):
        raise errors.bad_request(f"unable to parse requirement: {text!r}")
    if parts[3]:
        values = [value.strip() for value in parts[4].split(",")]
        return _expression(parts[2], "In" if parts[3] == "in" else "NotIn", values)
    return _expression(parts[2], "DoesNotExist" if parts[1] else "Exists", [])


def _expression(key: str, operator: str, values: list[str]) -> Callable[[dict[str, str]], bool]:
    """NotIn also matches objects without the label (K2.4-2)."""
    match operator:
        case "In":
            return lambda found: key in found and found[key] in values
        case "NotIn":
            return lambda found: key not in found or found[key] not in values
        case "Exists":
            return lambda found: key in found
        case _:
            return lambda found: key not in found


def _field_term(text: str, known: tuple[str, ...]) -> tuple[str, str, bool]:
    parts = _EQUAL.fullmatch(text)
    if not parts:
        raise errors.bad_request(f"invalid selector: '{text}'; can't understand '{text}'")
    if parts[1] not in known:
        names = ", ".join(f'"{name}"' for name in known)
        raise errors.bad_request(f'"{parts[1]}" is not a known field selector: only {names}')
    return parts[1], parts[3], parts[2] != "!="


def _field(body: Json, path: str) -> str:
    value = lookup(body, path)
    if path == "source":
        value = (body.get("source") or {}).get("component") or body.get("reportingComponent")
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "false" if path in {"spec.unschedulable", "spec.hostNetwork"} else ""
    return str(value)
