"""Beyond 32 bits nothing is asked, amounts are refused, and sums are what they are; nothing is wrapped."""

import struct
from typing import Any

from scheduler_app.conformance.quirks import int32
from scheduler_app.conformance.surface.calls import NO_REQUEST
from scheduler_app.core.predicate import Backends

Json = dict[str, Any]
_f32 = struct.Struct(">f")


def called(step: Json, expected: Json, actual: Json, backends: Backends) -> Json:
    """Restate the result of a function."""
    function, args = step["fn"], step["args"]
    if function == "node_devices" and str(int32.LARGEST) in actual["result"].get("error", ""):
        return actual
    if function == "requests" and "vendor" in args:
        pod = {"spec": {"containers": [{"name": "c", "resources": args["resources"]}]}}
        own = {key: backend for key, backend in backends.items() if key == args["vendor"]}
        is_none = actual["result"] == {args["vendor"]: NO_REQUEST}
        return actual if is_none and any(int32.beyond(pod, own)) else expected
    if function == "device_score" and _is_wrapped([args["device"]], args["requests"]):
        return {"result": _shown(_device_score(args))}
    if function == "node_score" and _is_wrapped(args["devices"], ()):
        return {"result": _shown(_node_score(args["devices"]))}
    return expected


def reviewed(step: Json, expected: Json, actual: Json, backends: Backends) -> Json:
    """Restate a review: a container whose amount cannot be is refused, and the message names both."""
    try:
        pod, message = step["body"]["request"]["object"], actual["review"]["response"]["status"]["message"]
        names = list(int32.beyond(pod, backends))
    except (KeyError, TypeError, AttributeError):
        return expected
    if not any(resource in message and container in message for container, resource in names):
        return expected
    review = expected["review"]
    refusal = {
        "allowed": False,
        "status": {"code": 500, "message": message, "metadata": {}},
        "uid": review["response"]["uid"],
    }
    kept = {name: value for name, value in expected.items() if name not in ("patch", "object_after")}
    return {**kept, "review": {**review, "response": refusal}}


def _is_wrapped(devices: list[Json], requests: Any) -> bool:
    pairs = (("used", "count"), ("usedmem", "memreq"), ("usedcores", "cores"))
    sums = [
        sum(device[used] for device in devices) + sum(request.get(more, 1) for request in requests)
        for used, more in pairs
    ]
    sums += [sum(device[total] for device in devices) for total in ("count", "totalmem", "totalcore")]
    return bool(max(sums) > int32.LARGEST)


def _device_score(args: Json) -> float:
    device, weights = args["device"], [f32(float(weight)) for weight in args["weights"]]
    own = [request for request in args["requests"] if request["type"] == device["type"]]
    asked = (len(own), sum(r["cores"] for r in own), sum(r["memreq"] for r in own))
    parts = [
        f32(weight * f32(f32(more + device[used]) / f32(device[total])))
        for weight, more, used, total in zip(
            weights,
            asked,
            ("used", "usedcores", "usedmem"),
            ("count", "totalcore", "totalmem"),
            strict=True,
        )
    ]
    return f32(10 * f32(f32(parts[0] + parts[1]) + parts[2]))


def _node_score(devices: list[Json]) -> float:
    pairs = (("used", "count"), ("usedcores", "totalcore"), ("usedmem", "totalmem"))
    parts = [f32(f32(sum(d[u] for d in devices)) / f32(sum(d[t] for d in devices))) for u, t in pairs]
    return f32(10 * f32(f32(parts[0] + parts[1]) + parts[2]))


def _shown(value: float) -> Json:
    return {"hex": f"0x{_f32.pack(value).hex()}", "two_decimals": f"{value:.2f}"}


def f32(value: float) -> float:
    found: float = _f32.unpack(_f32.pack(value))[0]
    return found
