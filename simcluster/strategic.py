"""Strategic merge patch: lists of objects are merged by a key, with the directives of Kubernetes (K4.5-6)."""

from typing import Any

from simcluster.objects import Json

_MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
    "resourceClaims": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "env": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "conditions": "type",
    "podIPs": "ip",
    "hostIPs": "ip",
    "addresses": "type",
    "secrets": "name",
    "webhooks": "name",
    "matchConditions": "name",
    "ownerReferences": "uid",
}
_MERGED_PRIMITIVES = ("finalizers", "podCIDRs")
_ORDER, _DELETE, _RETAIN = "$setElementOrder/", "$deleteFromPrimitiveList/", "$retainKeys"


def strategic_merge(target: Json, patch: Json) -> Json:
    """Return target with patch merged in, as the API server does for the built-in kinds."""
    if patch.get("$patch") == "replace":
        return {name: value for name, value in patch.items() if name != "$patch"}
    merged = _retained(target, patch.get(_RETAIN))
    for name, value in patch.items():
        if name.startswith(_DELETE):
            field = name.removeprefix(_DELETE)
            merged[field] = [item for item in merged.get(field, []) if item not in value]
        elif not name.startswith("$"):
            _merge_member(merged, name, value)
    for name, order in patch.items():
        if name.startswith(_ORDER):
            _reorder(merged, name.removeprefix(_ORDER), order)
    return merged


def _retained(target: Json, retain: list[str] | None) -> Json:
    return dict(target) if retain is None else {key: value for key, value in target.items() if key in retain}


def _merge_member(merged: Json, name: str, value: Any) -> None:
    if value is None:
        merged.pop(name, None)
    elif isinstance(value, dict):
        below = merged.get(name)
        if value.get("$patch") == "delete":
            merged.pop(name, None)
        else:
            merged[name] = strategic_merge(below if isinstance(below, dict) else {}, value)
    elif isinstance(value, list):
        merged[name] = _merge_list(name, merged.get(name) or [], value)
    else:
        merged[name] = value


def _merge_list(name: str, present: list[Any], patch: list[Any]) -> list[Any]:
    if name in _MERGED_PRIMITIVES:
        return present + [item for item in patch if item not in present]
    key = _merge_key(name, present + patch)
    if key is None:
        return patch
    if any(item.get("$patch") == "replace" for item in patch):
        return [item for item in patch if item.get("$patch") != "replace"]
    merged = list(present)
    for item in patch:
        _merge_item(merged, key, item)
    return merged


def _merge_key(name: str, items: list[Any]) -> str | None:
    if not all(isinstance(item, dict) for item in items):
        return None
    if name == "ports":  # a container's and a service's ports share the name, not the key
        return "containerPort" if any("containerPort" in item for item in items) else "port"
    return _MERGE_KEYS.get(name)


def _merge_item(merged: list[Any], key: str, item: Json) -> None:
    places = [place for place, present in enumerate(merged) if present.get(key) == item.get(key)]
    if item.get("$patch") == "delete":
        for place in reversed(places):
            del merged[place]
    elif places:
        merged[places[0]] = strategic_merge(merged[places[0]], item)
    else:
        merged.append(strategic_merge({}, item))


def _reorder(merged: Json, name: str, order: list[Any]) -> None:
    """Bring the listed elements into the given order, the others behind them as they were."""
    items = merged.get(name)
    if not items:
        return
    key = _merge_key(name, items)
    wanted = [element.get(key) if isinstance(element, dict) else element for element in order]
    ranks = {value: rank for rank, value in enumerate(wanted)}

    def rank(place: int) -> tuple[int, int]:
        element = items[place]
        value = element.get(key) if key and isinstance(element, dict) else element
        return (ranks[value] if value in ranks else len(ranks)), place

    merged[name] = [items[place] for place in sorted(range(len(items)), key=rank)]
