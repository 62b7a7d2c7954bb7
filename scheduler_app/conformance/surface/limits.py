"""Q-24 at the webhook: of several quota objects that limit the same, the smallest limit counts."""

from collections.abc import Mapping
from typing import Any

from scheduler_app.conformance.world import World
from scheduler_app.core import quantity
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.kube import decode

Json = dict[str, Any]
REFUSAL = {"code": 403, "message": "exceeding resource quota", "metadata": {}, "reason": "Forbidden"}


def reviewed(world: World, step: Json, expected: Json) -> Json:
    """Restate a review that let a pod in by the larger of two limits."""
    try:
        given, after = step["body"]["request"], expected["object_after"]
    except (KeyError, TypeError):
        return expected
    smallest = _contested(world, given.get("namespace", ""))
    if not smallest or not any(_exceeds(backend, after, smallest) for backend in world.backends.values()):
        return expected
    review = expected["review"]
    response = {"allowed": False, "status": REFUSAL, "uid": review["response"]["uid"]}
    kept = {name: value for name, value in expected.items() if name not in ("patch", "object_after")}
    return {**kept, "review": {**review, "response": response}}


def _contested(world: World, namespace: str) -> Mapping[str, int]:
    """Return the smallest limit of each resource that several objects of the namespace limit differently."""
    found: dict[str, set[int]] = {}
    for item in world.api.of("resourcequotas"):
        if item["metadata"]["namespace"] == namespace:
            for name, text in item["spec"]["hard"].items():
                found.setdefault(name.removeprefix("limits."), set()).add(quantity.exact(text) or 0)
    return {name: min(limits) for name, limits in found.items() if len(limits) > 1}


def _exceeds(backend: DeviceBackend, pod: Json, smallest: Mapping[str, int]) -> bool:
    """Say whether the app containers together ask for more than one of these limits."""
    asked = [request for c in decode.decode_pod(pod).containers if (request := backend.request(c))]
    memory = sum(request.mem_mib * request.cards for request in asked)
    cores = sum(request.cores * request.cards for request in asked)
    names = backend.names
    limits = (smallest.get(names.mem), smallest.get(names.cores))
    factors = (max(1, names.mem_factor), 1)
    return any(
        limit is not None and amount > limit * factor
        for limit, factor, amount in zip(limits, factors, (memory, cores), strict=True)
    )
