"""The shape a pod object must have before admission reads it; the message names the field (W-4, step 1)."""

from collections.abc import Iterator
from typing import Any

from scheduler_app.core import quantity
from scheduler_app.core.errors import HamiError


class ShapeError(HamiError):
    """A member has the wrong type."""


def check(raw: Any) -> None:
    """Raise ``ShapeError`` for the first member that admission reads and that has the wrong type."""
    if raw is None:
        raise ShapeError("there is no content to decode")
    _object(raw, "object")
    for member, only in (("kind", "Pod"), ("apiVersion", "v1")):
        if raw.get(member) not in (None, "", only):
            raise ShapeError(f"object.{member}: expected {only}, got {raw[member]!r}")
    meta = _object(raw.get("metadata"), "metadata")
    for group in ("annotations", "labels"):
        _texts(meta.get(group), f"metadata.{group}")
    for member in ("name", "namespace", "generateName"):
        _text(meta.get(member), f"metadata.{member}")
    spec = _object(raw.get("spec"), "spec")
    for member in ("schedulerName", "nodeName", "runtimeClassName"):
        _text(spec.get(member), f"spec.{member}")
    for group in ("initContainers", "containers"):
        for position, item in enumerate(_list(spec.get(group), f"spec.{group}")):
            _container(item, f"spec.{group}[{position}]")


def name(raw: Any) -> str:
    meta = raw.get("metadata") or {}
    return str(meta.get("name") or meta.get("generateName") or "")


def owner(raw: Any) -> str:
    """Return ``"ReplicaSet/train-5d9c"`` of the controlling owner, else the pod's own name."""
    for reference in _references(raw):
        if reference.get("controller"):
            return f"{reference.get('kind', '')}/{reference.get('name', '')}"
    return f"Pod/{name(raw)}"


def _references(raw: Any) -> Iterator[dict[str, Any]]:
    found = (raw.get("metadata") or {}).get("ownerReferences")
    return (item for item in found if isinstance(item, dict)) if isinstance(found, list) else iter(())


def _container(item: Any, at: str) -> None:
    if item is None:
        raise ShapeError(f"{at}: expected an object")
    container = _object(item, at)
    _text(container.get("name"), f"{at}.name")
    resources = _object(container.get("resources"), f"{at}.resources")
    for group in ("limits", "requests"):
        for key, value in _object(resources.get(group), f"{at}.resources.{group}").items():
            if not _is_quantity(value):
                raise ShapeError(f"{at}.resources.{group}.{key}: expected a quantity")
    for position, entry in enumerate(_list(container.get("env"), f"{at}.env")):
        _object(entry, f"{at}.env[{position}]")
    context = _object(container.get("securityContext"), f"{at}.securityContext")
    if not isinstance(context.get("privileged"), (bool, type(None))):
        raise ShapeError(f"{at}.securityContext.privileged: expected true or false")


def _is_quantity(value: Any) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, (str, int, float)) and not isinstance(value, bool) and quantity.is_valid(str(value))
    )


def _object(value: Any, at: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ShapeError(f"{at}: expected an object")
    return value


def _list(value: Any, at: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ShapeError(f"{at}: expected a list")
    return value


def _text(value: Any, at: str) -> None:
    if not isinstance(value, (str, type(None))):
        raise ShapeError(f"{at}: expected a text")


def _texts(value: Any, at: str) -> None:
    for key, item in _object(value, at).items():
        _text(item, f"{at}.{key}")
