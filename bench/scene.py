"""A cluster of any size as the API server would tell it: nodes, pods that hold cards, pods that ask for some.

Everything is made from its number alone, so the stub API server (in another process), the client and the
measurements inside this process agree on it without sharing memory.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from simcluster import fleet
from simcluster.fleet import Model, Vendor
from simcluster.nodes import NodeRecord
from simcluster.objects import Json

SHARES = 50  # pods a card can take, so that tens of thousands have room
HELD_MIB = 64
NAMESPACE = "bench"
_IMAGES = [
    {"names": [f"registry.example/library/image-{n}@sha256:{n:064x}"], "sizeBytes": 900_000_000 + n}
    for n in range(50)
]
_ENV = [{"name": f"SETTING_{n}", "value": f"value-of-setting-{n}"} for n in range(25)]
_MANAGED: dict[str, dict[str, dict[str, dict[str, str]]]] = {
    "f:metadata": {"f:labels": {f"f:label-{n}": {} for n in range(12)}}
}


@dataclass(frozen=True)
class Scene:
    """``shapes`` is the number of different nodes; ``handshake`` says whether they were asked once."""

    nodes: int = 100
    gpus: int = 8
    pods: int = 0
    shapes: int = 1
    vendor: str = "nvidia"
    handshake: bool = True

    @cached_property
    def data(self) -> Vendor:
        found = fleet.vendor(self.vendor)
        entry = found.register.get("entry") or {}
        if "count" in entry:
            found = replace(found, register={**found.register, "entry": {**entry, "count": SHARES}})
        return found

    @cached_property
    def model(self) -> Model:
        return self.data.models[0]

    @cached_property
    def _handshakes(self) -> dict[str, str]:
        """Return what a node carries that a scheduler has looked at: every vendor asked it (R-8).

        The plugin of the node's own vendor may reply, and then overwrites the question.
        """
        keys = {fleet.vendor(name).handshake.get("key") for name in fleet.vendor_names()}
        asked = dict.fromkeys(sorted(filter(None, keys)), "Requesting_2099-01-01 00:00:00")
        if self.data.handshake.get("replies"):
            asked[self.data.handshake["key"]] = "Reported 2099-01-01 00:00:00"
        return asked

    def names(self, count: int | None = None) -> list[str]:
        return [node_name(n) for n in range(self.nodes if count is None else count)]

    def node(self, number: int) -> Json:
        """Return a node of some eleven KB, as real ones are: most of it is the list of images."""
        model = replace(self.model, mem_mib=self.model.mem_mib - number % self.shapes)
        body = NodeRecord(node_name(number), self.data, model, [True] * self.gpus, number).body()
        body["metadata"]["uid"] = f"node-uid-{number:06d}"
        body["metadata"]["resourceVersion"] = str(number + 1)
        if self.handshake:
            body["metadata"]["annotations"] |= self._handshakes
        body["status"]["images"] = _IMAGES
        return body

    def holding(self, number: int) -> Json:
        """Return a running pod that holds one card; pods go round the nodes, then round the cards."""
        node, card = node_name(number % self.nodes), number // self.nodes % self.gpus
        text = f"{fleet.card_id(self.model, node, card)},{self.data.name},{HELD_MIB},0:;"
        allocation = self.data.allocation
        keys = [allocation[name] for name in ("to_allocate", "allocated") if allocation.get(name)]
        written = {"hami.io/vgpu-node": node, **dict.fromkeys(keys, text)}
        body = pod(f"held-{number:06d}", self.limits({self.data.count_resource: 1}), written)
        body["spec"]["nodeName"] = node
        body["status"] = {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}]}
        return body

    def asking(self, number: int, *, fits: bool = True, plain: bool = False) -> Json:
        """Return a pod to be placed: the vendor's first kind of request, one no node can serve, or none."""
        rows = [row for row in self.data.requests if bool(row.get("impossible")) != fits]
        return pod(f"asking-{number:06d}", {} if plain else self.limits(rows[0]["limits"]))

    def limits(self, given: Json) -> dict[str, str]:
        return {name: str(spec[0] if isinstance(spec, list) else spec) for name, spec in given.items()}

    def all_nodes(self) -> Iterator[Json]:
        return map(self.node, range(self.nodes))

    def all_pods(self) -> Iterator[Json]:
        return map(self.holding, range(self.pods))


def node_name(number: int) -> str:
    return f"gpu-node-{number:05d}.cluster.example"


def pod(name: str, limits: dict[str, str], written: dict[str, str] | None = None) -> Json:
    """Return a pod of some four KB, as the API server sends them."""
    resources = {"limits": {"cpu": "4", "memory": "16Gi"} | limits, "requests": {"cpu": "2"} | limits}
    container = {
        "name": "main",
        "image": "registry.example/team/training-job:2024.1",
        "command": ["python", "-m", "train", "--config", "/etc/train/config.yaml"],
        "env": _ENV,
        "resources": resources,
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }
    return {
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "creationTimestamp": "2026-01-02T15:04:05Z",
            "labels": {f"label-{n}": f"value-{n}" for n in range(12)},
            "annotations": {"team": "bench", **(written or {})},
            "managedFields": [
                {"manager": f"manager-{n}", "operation": "Update", "fieldsV1": _MANAGED} for n in range(3)
            ],
        },
        "spec": {
            "schedulerName": "hami-scheduler",
            "containers": [container],
            "restartPolicy": "Never",
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
            "tolerations": [
                {"key": f"node.kubernetes.io/{word}", "operator": "Exists", "tolerationSeconds": 300}
                for word in ("not-ready", "unreachable")
            ],
        },
        "status": {"phase": "Pending"},
    }


def dumps(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
