"""How a node's device plugin hands a bound pod its cards, by what stands on the pod (K5.3, P-8, P-11, P-14).

A vendor's ``allocation`` says which way. ``to_allocate``: its text is blanked container by container, then
bind-phase becomes success. ``confirms``: one annotation turns from false to true. Neither: the plugin reads
``allocated`` and writes nothing. ``lock``: the node annotation that is removed at the end. ``instances``: the
reservations of parts of cards, to which the plugin adds what it made (NVP-9).
"""

import json
import uuid
from collections.abc import Iterator

from simcluster.api import Api
from simcluster.errors import StatusError
from simcluster.fleet import Vendor
from simcluster.objects import Json, annotations, key_of
from simcluster.podspec import containers
from simcluster.quantities import value_of

_BIND_PHASE, _BIND_TIME, _CHOSEN_NODE = "hami.io/bind-phase", "hami.io/bind-time", "hami.io/vgpu-node"
_WAITING, _DONE = "false", "true"
_RELEASES = 5
_CONFLICT = 409


class AllocateError(Exception):
    """The plugin cannot serve the container; the pod fails."""


def asks_for(vendor: Vendor, pod: Json) -> bool:
    """Whether any container asks for something of the vendor, be it only memory."""
    names = {vendor.count_resource, *vendor.managed}
    return any(value_of(text) > 0 for name, text in _limits(pod) if name in names)


def allocate(api: Api, vendor: Vendor, pod: Json, node: str) -> None:
    """Serve every container of a pod that asks for cards, one call each, init containers first (K5.3-1).

    AllocateError when one cannot be served; the pod it was about is then marked failed and the lock released.
    """
    if vendor.allocation.get("to_allocate"):
        for count in _card_counts(vendor, pod):
            _hand_out(api, vendor, node, count)
    elif vendor.allocation.get("confirms"):
        _confirm(api, vendor, node)


def _hand_out(api: Api, vendor: Vendor, node: str, count: int) -> None:
    pending = _pending_pod(api, vendor, node)
    try:
        _serve(api, vendor, pending, count)
    except (AllocateError, StatusError):
        _finish(api, vendor, pending, node, phase="failed")
        raise
    current = api.get("pods", key_of(pending))
    if "," not in annotations(current).get(vendor.allocation["to_allocate"], ""):
        _finish(api, vendor, pending, node, phase="success")


def _confirm(api: Api, vendor: Vendor, node: str) -> None:
    """Take the first pod that was not confirmed yet (MLU-51, ENF-10, NEU-8).

    It need not be the one kubelet asks for, which then confirms another; so that one may already run.
    """
    key = vendor.allocation["confirms"]
    for pod in api.list("pods", fields=f"spec.nodeName={node},status.phase!=Succeeded,status.phase!=Failed"):
        if annotations(pod).get(key) == _WAITING:
            api.patch("pods", key_of(pod), _noted({key: _DONE}))
            _release(api, vendor, pod, node)
            return
    raise AllocateError(f"no pod with {key}={_WAITING} found on node {node}")


def _card_counts(vendor: Vendor, pod: Json) -> Iterator[int]:
    for name, text in _limits(pod):
        if name == vendor.count_resource and value_of(text) > 0:
            yield int(value_of(text))


def _limits(pod: Json) -> Iterator[tuple[str, str]]:
    for _, container in containers(pod):
        yield from (container["resources"].get("limits") or {}).items()


def _pending_pod(api: Api, vendor: Vendor, node: str) -> Json:
    """Return the pod the node lock names, else the first one bound here that waits (P-14)."""
    held = annotations(api.get("nodes", node)).get(vendor.allocation.get("lock", ""), "")
    parts = held.split(",")
    if len(parts) == 3:
        return api.get("pods", f"{parts[1]}/{parts[2]}")
    for pod in api.list("pods", fields=f"spec.nodeName={node},status.phase=Pending"):
        notes = annotations(pod)
        waits = _BIND_TIME in notes and notes.get(_BIND_PHASE) in {"allocating", "success"}
        if waits and notes.get(_CHOSEN_NODE) == node:
            return pod
    raise AllocateError(f"no binding pod found on node {node}")


def _serve(api: Api, vendor: Vendor, pod: Json, count: int) -> None:
    """Blank the first container entry that has cards; its number of cards must be what kubelet asked for."""
    key = vendor.allocation["to_allocate"]
    parts = annotations(pod).get(key, "").split(";")
    place = next((place for place, part in enumerate(parts) if "," in part), None)
    if place is None:
        raise AllocateError("no device to allocate found in the pod's annotation")
    if len([card for card in parts[place].split(":") if "," in card]) != count:
        raise AllocateError("device number not matched")
    parts[place] = ""
    api.patch("pods", key_of(pod), _noted({key: ";".join(parts), **_made(vendor, pod, place)}))


def _made(vendor: Vendor, pod: Json, place: int) -> dict[str, str]:
    """Return the reservations with the runtime identity of those of one container (P-12)."""
    key = vendor.allocation.get("instances", "")
    if key not in annotations(pod):
        return {}
    rows = json.loads(annotations(pod)[key])
    for row in rows:
        if row["containerIndex"] == place:
            start = row["placement"]["start"]
            name = uuid.uuid5(uuid.NAMESPACE_OID, f"{row['gpuUUID']}/{row['profile']}/{start}")
            row |= {"migUUID": f"MIG-{name}", "gpuInstanceID": start + 1, "computeInstanceID": 0}
    return {key: json.dumps(rows, separators=(",", ":"))}


def _finish(api: Api, vendor: Vendor, pod: Json, node: str, *, phase: str) -> None:
    api.patch("pods", key_of(pod), _noted({_BIND_PHASE: phase}))
    _release(api, vendor, pod, node)


def _release(api: Api, vendor: Vendor, pod: Json, node: str) -> None:
    """Remove the node's lock unless it names another pod; the lock of MLU names none (P-11, MLU-30)."""
    lock = vendor.allocation.get("lock")
    for attempt in range(_RELEASES if lock else 0):
        body = api.get("nodes", node)
        held, meta = annotations(body).get(lock or "", ""), pod["metadata"]
        if not held or ("," in held and not held.endswith(f",{meta['namespace']},{meta['name']}")):
            return
        release = {"resourceVersion": body["metadata"]["resourceVersion"], "annotations": {lock: None}}
        try:
            api.patch("nodes", node, {"metadata": release})
        except StatusError as exc:
            if exc.code != _CONFLICT or attempt == _RELEASES - 1:
                raise
        else:
            return


def _noted(notes: dict[str, str]) -> Json:
    return {"metadata": {"annotations": notes}}
