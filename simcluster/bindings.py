"""Subresources that are no plain writes: binding a pod to a node, evicting it."""

from simcluster import errors, resources
from simcluster.objects import Json, split_key, time_text
from simcluster.verbs import Deletion, Verbs

_POD = resources.by_name("pods")


def bind(verbs: Verbs, key: str, binding: Json, *, dry_run: bool = False) -> Json:
    """Set the pod's node and merge the binding's annotations; StatusError 409 when it has one (K4.5-8)."""
    name = split_key(key)[1]
    target = (binding.get("target") or {}).get("name")
    if not target:
        cause = {"reason": "FieldValueRequired", "message": "Required value", "field": "target.name"}
        raise errors.invalid("Binding", name, [cause])

    def assign(current: Json | None) -> Json:
        if current is None:
            raise errors.not_found("pods", name)
        _check(current, binding)
        current["spec"]["nodeName"] = target
        extra = (binding.get("metadata") or {}).get("annotations")
        if extra:
            current["metadata"].setdefault("annotations", {}).update(extra)
        set_condition(current, {"type": "PodScheduled", "status": "True"})
        return current

    if not dry_run:
        verbs.store.change("pods", key, assign)
    return errors.success() | {"code": 201}


def evict(verbs: Verbs, key: str, eviction: Json) -> Json:
    """Delete the pod as its eviction asks; budgets are not looked at."""
    options = eviction.get("deleteOptions") or {}
    asked = Deletion(grace_seconds=options.get("gracePeriodSeconds"), dry_run=bool(options.get("dryRun")))
    verbs.delete(_POD, key, asked)
    return errors.success() | {"code": 201}


def set_condition(body: Json, condition: Json) -> None:
    """Put a condition into the status in place; its time moves only when its status does."""
    found = body.setdefault("status", {}).setdefault("conditions", [])
    present = next((row for row in found if row["type"] == condition["type"]), None)
    moved = present is None or present["status"] != condition["status"]
    stamp = time_text() if present is None or moved else present.get("lastTransitionTime")
    row = {"lastProbeTime": None, "lastTransitionTime": stamp} | condition
    if present is None:
        found.append(row)
    else:
        found[found.index(present)] = row


def _check(pod: Json, binding: Json) -> None:
    meta, name = pod["metadata"], pod["metadata"]["name"]
    uid = (binding.get("metadata") or {}).get("uid")
    if uid and uid != meta["uid"]:
        text = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {meta['uid']}"
        raise errors.conflict("pods/binding", name, text)
    if meta.get("deletionTimestamp"):
        raise errors.conflict(
            "pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host"
        )
    if pod["spec"].get("nodeName"):
        text = f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
        raise errors.conflict("pods/binding", name, text)
