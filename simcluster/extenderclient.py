"""kube-scheduler's side of the extender protocol: what is sent, how answers are judged (K1.1, K1.4)."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import orjson

from simcluster.callers import Caller, CallError
from simcluster.objects import Json

TIMEOUT_SECONDS = 30.0


class ExtenderError(Exception):
    """An answer that fails the whole cycle (K1.4-1 … K1.4-4, K1.4-7)."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """The nodes that stay, in the answer's order, and why the others do not, counted by text."""

    nodes: list[str]
    reasons: Counter[str]


class ExtenderClient:
    """Filter and bind at one urlPrefix, nodeCacheCapable."""

    def __init__(self, url: str, caller: Caller) -> None:
        self._url, self._caller = url.rstrip("/"), caller

    def filter(self, pod: Json, nodes: list[str]) -> Filtered:
        """Ask which nodes stay."""
        inner = {name: value for name, value in pod.items() if name not in {"kind", "apiVersion"}}
        result = self._send("filter", {"Pod": inner, "Nodes": None, "NodeNames": nodes})
        return judged(result, nodes)

    def bind(self, pod: Json, node: str) -> None:
        """Let the extender bind; success only says that it did."""
        meta = pod["metadata"]
        self._send(
            "bind",
            {
                "PodName": meta["name"],
                "PodNamespace": meta["namespace"],
                "PodUID": meta["uid"],
                "Node": node,
            },
        )

    def _send(self, verb: str, args: Json) -> Json:
        url = f"{self._url}/{verb}"
        try:
            answer = self._caller.post(url, orjson.dumps(args), timeout_seconds=TIMEOUT_SECONDS)
        except CallError as exc:
            raise ExtenderError(str(exc)) from exc
        if answer.status != 200:
            raise ExtenderError(f"failed {verb} with extender at URL {self._url}, code {answer.status}")
        try:
            result = orjson.loads(answer.body)
        except ValueError as exc:
            raise ExtenderError(f"the answer to {verb} is not JSON: {exc}") from exc
        folded = {str(name).lower(): value for name, value in (result or {}).items()}
        if folded.get("error"):
            raise ExtenderError(str(folded["error"]))
        return folded


def judged(result: Json, asked: list[str]) -> Filtered:
    """Read a filter answer, its member names in lower case; ExtenderError for a node not asked about."""
    names = result.get("nodenames")
    if names is None:
        names = [node["metadata"]["name"] for node in ((result.get("nodes") or {}).get("items") or [])]
    for name in names:
        if name not in asked:
            raise ExtenderError(
                f'extender claims a filtered node "{name}" which is not found in the input node list'
            )
    failed: dict[str, Any] = (result.get("failednodes") or {}) | (
        result.get("failedandunresolvablenodes") or {}
    )
    return Filtered(names, Counter(str(text) for text in failed.values() if text))
