"""The scheduler's own filters: readiness, cordon, taints, node selector, resources nobody else manages."""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from simcluster.objects import Json, labels
from simcluster.podspec import containers
from simcluster.quantities import value_of

_BLOCKING = ("NoSchedule", "NoExecute")


@dataclass(slots=True)
class NodeState:
    """A node as the scheduler sees it, with what its pods (assumed ones too) take, by pod uid."""

    body: Json
    pods: dict[str, Counter[str]] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)

    def put(self, uid: str, request: Counter[str]) -> None:
        """Count a pod that is not counted yet."""
        self.pods[uid] = request
        self.used.update(request)

    def take(self, uid: str) -> None:
        self.used.subtract(self.pods.pop(uid, Counter()))


def request_of(pod: Json, ignored: frozenset[str]) -> Counter[str]:
    """Return resource → thousandths asked for, without the ignored ones; each pod takes one of ``pods``."""
    total: Counter[str] = Counter({"pods": 1000})
    for path, container in containers(pod):
        if path.startswith("spec.initContainers"):
            continue
        for name, text in (container["resources"].get("requests") or {}).items():
            if name not in ignored:
                total[name] += _milli(text)
    return total


def resources_named(pod: Json) -> set[str]:
    """Return the names in requests or limits of any container (K1.3-1)."""
    return {
        name
        for _, container in containers(pod)
        for part in ("requests", "limits")
        for name in container["resources"].get(part) or {}
    }


def why_not(pod: Json, request: Counter[str], node: NodeState) -> str:
    """Return why the pod cannot run on the node, in kube-scheduler's words; "" when it can."""
    spec = node.body.get("spec") or {}
    if spec.get("unschedulable"):
        return "node(s) were unschedulable"
    if not _is_ready(node.body):
        return "node(s) were not ready"
    for taint in spec.get("taints") or []:
        if taint.get("effect") in _BLOCKING and not _tolerates(pod, taint):
            return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
    wanted = (pod["spec"].get("nodeSelector") or {}).items()
    if not all(labels(node.body).get(name) == value for name, value in wanted):
        return "node(s) didn't match Pod's node affinity/selector"
    return _lacking(request, node)


def _lacking(request: Counter[str], node: NodeState) -> str:
    allocatable, used = node.body["status"].get("allocatable") or {}, node.used
    for name, milli in sorted(request.items()):
        if milli and used[name] + milli > _milli(allocatable.get(name, "0")):
            return "Too many pods" if name == "pods" else f"Insufficient {name}"
    return ""


def _is_ready(node: Json) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or []
    return not any(row["type"] == "Ready" and row["status"] != "True" for row in conditions)


def _tolerates(pod: Json, taint: Json) -> bool:
    for row in pod["spec"].get("tolerations") or []:
        same_key = row.get("key") in {None, "", taint["key"]}
        same_value = row.get("operator") == "Exists" or row.get("value", "") == taint.get("value", "")
        if same_key and same_value and row.get("effect") in {None, "", taint["effect"]}:
            return True
    return False


@lru_cache(maxsize=4096)
def _milli(text: str) -> int:
    return int(value_of(text) * 1000)
