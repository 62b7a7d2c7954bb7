"""Pure functions of the recording (``call`` steps), answered by our own codecs and readings."""

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_app.conformance import configurations
from scheduler_app.conformance.surface import numbers, texts
from scheduler_app.core.errors import ConfigError
from scheduler_app.core.types import CardRequest, Container, VendorKey
from scheduler_app.deviceconfig import DeviceConfig

Json = dict[str, Any]
NO_REQUEST = {"nums": 0, "type": "", "memreq": 0, "mem_percentage": 0, "cores": 0}

PURE: Mapping[str, Callable[[Json], Json]] = {
    "quantity": numbers.quantity_of,
    "duration": numbers.duration_of,
    "bool": numbers.boolean_of,
    "int32": numbers.integer_of(32),
    "int64": numbers.integer_of(64),
    "weights": numbers.weights_of,
    "device_score": numbers.device_score,
    "node_score": numbers.node_score_of,
    "sort": numbers.order,
    "sort_nodes": numbers.order_nodes,
    "decode_node_csv": texts.node_csv,
    "decode_node_json": texts.node_json,
    "encode_node_csv": texts.node_csv_text,
    "encode_node_json": texts.node_json_text,
    "decode_pair_scores": texts.pair_scores,
    "mig_allocations": texts.reservations,
    "collapse": texts.collapse,
    "app_only": texts.app_only,
    "node_lock": texts.node_lock,
}


class Calls:
    """Functions that need the case's configuration, which ``load_config`` replaces."""

    def __init__(self, devices: DeviceConfig, enabling: Mapping[str, bool]) -> None:
        self.devices = devices
        self._enabling = enabling
        self._bound: Mapping[str, Callable[[Json], Json]] = {
            "decode_pod": lambda args: texts.pod_devices(args, self.devices.backends),
            "encode_pod": lambda args: texts.pod_annotations(args, self.devices.backends),
            "node_devices": lambda args: texts.node_devices(args, self.devices.backends),
            "requests": self._requests,
            "load_config": self._load,
            "keys": self._keys,
        }

    def call(self, name: str, args: Json) -> Json | None:
        """Return the result, or None for a function that is not known."""
        function = PURE.get(name) or self._bound.get(name)
        return None if function is None else function(args)

    def _requests(self, args: Json) -> Json:
        resources = args["resources"]
        limits, requests = (
            {k: str(v) for k, v in (resources.get(group) or {}).items()} for group in ("limits", "requests")
        )
        container = Container("c", limits, requests)
        wanted = args.get("vendor")
        if wanted is not None:
            return {wanted: _request(self.devices.backends[VendorKey(wanted)].request(container))}
        found = {key: _request(backend.request(container)) for key, backend in self.devices.backends.items()}
        return {key: request for key, request in found.items() if request["nums"]}

    def _load(self, args: Json) -> Json:
        try:
            self.devices = configurations.load(args["text"], self._enabling)
        except ConfigError as exc:
            return {"error": str(exc)}
        return {
            "backends": sorted(self.devices.backends),
            "order": [backend.vendor_key for backend in self.devices.order],
            "resource_names": self._names(),
        }

    def _keys(self, args: Json) -> Json:
        backends = self.devices.backends
        groups = ("allocated", "to_allocate", "handshake")
        keys = {
            group: {key: text for key, b in backends.items() if (text := getattr(b.keys, group))}
            for group in groups
        }
        return {**keys, "backends": sorted(backends), "resource_names": self._names()}

    def _names(self) -> Json:
        return {
            key: {
                "count": backend.names.count,
                "memory": backend.names.mem,
                "core": backend.names.cores,
                "memory_factor": backend.names.mem_factor,
            }
            for key, backend in self.devices.backends.items()
        }


def _request(request: CardRequest | None) -> Json:
    if request is None:
        return dict(NO_REQUEST)
    return {
        "nums": request.cards,
        "type": request.type,
        "memreq": request.mem_mib,
        "mem_percentage": request.mem_percent,
        "cores": request.cores,
    }
