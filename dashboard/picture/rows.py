"""Rows of tables as JSON values, the same for pages, REST and the socket."""

from typing import Any

from dashboard.picture.causes import ask_text, cause_of
from dashboard.picture.digest import Digest
from dashboard.picture.model import Picture
from dashboard.picture.problems import is_tight
from scheduler_app.core.publication import (
    CardView,
    DecisionView,
    NodeView,
    OrphanView,
    PendingPod,
    QuotaView,
)


def node_row(node: NodeView, digest: Digest) -> dict[str, Any]:
    """Return one node. Pairs are (used, total), None where none of its GPUs counts the amount."""
    total = digest.total
    return {
        "id": node.name,
        "name": node.name,
        "state": node_state(node, digest),
        "pool": node.pool,
        "model": " + ".join(digest.models),
        "vendor": " + ".join(sorted({card.vendor for card in node.cards})),
        "gpus": total.gpus,
        "mem_mib": total.mem_mib,
        "cores_percent": total.cores,
        "shares": total.shares,
        "pods": digest.pods,
        "largest_free_mib": None if total.mem_mib is None else digest.largest_free_mib,
        "lock": node.lock or None,
        "registered_ms": node.registered_ms,
        "problem": node.problem,
    }


def node_state(node: NodeView, digest: Digest) -> str:
    """Return the node's state; a node that is well but has a sick GPU is ``unhealthy``."""
    return "unhealthy" if node.state == "ok" and digest.unhealthy else node.state


def node_rows(picture: Picture) -> list[dict[str, Any]]:
    return [node_row(node, picture.digests[name]) for name, node in picture.nodes.items()]


def card_row(card: CardView, node: NodeView) -> dict[str, Any]:
    """Return one GPU with the pods on it. Cores are told twice: in the vendor's unit, and in percent."""
    return {
        "id": card.id,
        "node": node.name,
        "index": card.index,
        "vendor": card.vendor,
        "model": card.model,
        "mode": card.mode,
        "numa": card.numa,
        "healthy": card.healthy,
        "cordoned": card.cordoned,
        "mem_mib": card.mem_mib,
        "cores_percent": card.cores_percent,
        "cores": card.cores,
        "cores_unit": card.cores_unit,
        "shares": card.shares,
        "slices": [
            {"profile": s.profile, "start": s.start, "size": s.size, "pod": s.pod} for s in card.slices
        ],
        "slice_total": card.slice_total,
        "parts": part_rows(card),
        "pods": [share_row(card, number) for number in range(len(card.pods))],
    }


def orphan_row(orphan: OrphanView) -> dict[str, Any]:
    """Return what a pod holds of a GPU that its node does not register (F11).

    No percentage: the GPU's own cores are unknown.
    """
    pod = orphan.pod
    return {
        "gpu_id": orphan.card,
        "namespace": pod.namespace,
        "name": pod.name,
        "mem_mib": pod.mem_mib,
        "cores": pod.cores,
        "cores_unit": orphan.cores_unit,
        "parts": list(pod.parts),
        "shares": pod.shares,
        "phase": pod.phase,
        "containers": pod.containers,
    }


def part_rows(card: CardView) -> list[dict[str, str]]:
    """Return the named parts of a GPU with who holds each: instances where it is cut into such, else pods."""
    if card.slices:
        return [{"name": one.profile, "pod": one.pod} for one in card.slices]
    return [
        {"name": name, "pod": f"{share.namespace}/{share.name}"}
        for share in card.pods
        for name in share.parts
    ]


def share_row(card: CardView, number: int) -> dict[str, Any]:
    share = card.pods[number]
    total = card.cores[1] if card.cores else 0
    return {
        "id": f"{card.id}/{share.uid}",
        "pod": f"{share.namespace}/{share.name}",
        "namespace": share.namespace,
        "name": share.name,
        "gpu": card.index,
        "mem_mib": share.mem_mib,
        "cores_percent": share.cores * 100 // total if share.cores is not None and total else None,
        "cores": share.cores,
        "cores_unit": card.cores_unit,
        "parts": list(share.parts),
        "shares": share.shares,
        "phase": share.phase,
        "containers": share.containers,
    }


def node_detail(node: NodeView, digest: Digest) -> dict[str, Any]:
    """Return one node with its GPUs: what the ``node:<name>`` topic carries."""
    return {
        **node_row(node, digest),
        "ready": node.is_ready,
        "handshakes": dict(node.handshakes),
        "cards": [card_row(card, node) for card in node.cards],
        "orphans": [orphan_row(orphan) for orphan in node.orphans],
    }


def pending_row(pod: PendingPod) -> dict[str, Any]:
    """Return one pod that waits. ``nodes`` is the number of nodes that were asked and refused."""
    return {
        "id": pod.uid,
        "uid": pod.uid,
        "ns": pod.namespace,
        "name": pod.name,
        "owner": pod.owner,
        "since": pod.since_ms,
        "cause": cause_of(pod),
        "ask": ask_text(pod.asks),
        "tries": pod.tries,
        "last_try": pod.last_try_ms,
        "nodes": pod.asked,
        "node": pod.placed_on,
    }


def quota_row(quota: QuotaView, picture: Picture) -> dict[str, Any]:
    """Return one resource of one namespace with what its pending pods still ask of it."""
    return {
        "id": f"{quota.namespace}/{quota.resource}",
        "namespace": quota.namespace,
        "resource": quota.resource,
        "object": quota.source,
        "used": quota.used,
        "limit": quota.limit,
        "unit": quota.unit,
        "enforced": quota.is_enforced,
        "tight": is_tight(quota),
        "pending": sum(pod.namespace == quota.namespace for pod in picture.pending.values()),
    }


def decision_row(decision: DecisionView) -> dict[str, Any]:
    return {
        "id": f"{decision.at_ms}-{decision.uid}",
        "at": decision.at_ms,
        "namespace": decision.namespace,
        "pod": decision.pod,
        "kind": decision.kind,
        "node": decision.node,
        "score": round(decision.score, 2),
        "asked": decision.asked,
        "fitted": decision.fitted,
        "ms": round(decision.duration_ms, 1),
        "reason": decision.reason,
    }
