"""The overview's numbers as JSON values: what the socket carries, REST answers and the page shows."""

from typing import Any

from dashboard.picture.causes import Cause, group_causes
from dashboard.picture.digest import total_of
from dashboard.picture.model import Picture
from dashboard.picture.problems import Problem, problems
from dashboard.picture.room import Room, rooms
from dashboard.picture.rows import quota_row

TOP_CAUSES = 5
TOP_QUOTAS = 4
SHOWN_NAMES = 5
NAMING = ("cause", "ask", "resource", "holder")
"""Arguments that tell problems of one kind apart; the others are amounts, which move."""


def summary(picture: Picture, now_ms: int) -> dict[str, Any]:
    """Return the values by name. Pairs are (used, total) or (well, total); times are epoch ms, 0 is none."""
    found = [problem_json(problem) for problem in problems(picture, now_ms)]
    total = total_of(picture.sums.values())
    pending = picture.pending.values()
    return {
        "nodes": [sum(node.state == "ok" for node in picture.nodes.values()), len(picture.nodes)],
        "gpus": [total.healthy, total.gpus],
        "mem_mib": total.mem_mib,
        "cores": total.cores,
        "shares": total.shares,
        "pending": len(picture.pending),
        "oldest_pending_ms": min((pod.since_ms for pod in pending), default=0),
        "problems": found,
        "since_ms": found[0]["since_ms"] if found else 0,
        "causes": [cause_json(cause) for cause in group_causes(pending)[:TOP_CAUSES]],
        "room": [room_json(room) for room in rooms(picture.sums, picture.digests.values())],
        "quotas": fullest_quotas(picture),
        "leader": leader_json(picture),
    }


def fullest_quotas(picture: Picture) -> list[dict[str, Any]]:
    """Return the quotas with a limit, the fullest first, as many as the overview shows."""
    limited = [quota for quota in picture.quotas if quota.limit]
    fullest = sorted(limited, key=lambda q: (-q.used / (q.limit or 1), q.namespace, q.resource))
    return [
        {**quota_row(quota, picture), "full": [quota.used, quota.limit]} for quota in fullest[:TOP_QUOTAS]
    ]


def problem_json(problem: Problem) -> dict[str, Any]:
    return {
        "id": ":".join(
            (problem.key, *problem.names[:1], *(value for name, value in problem.args if name in NAMING))
        ),
        "key": problem.key,
        "severity": problem.severity,
        "count": problem.count,
        "names": problem.names[:SHOWN_NAMES],
        "since_ms": problem.since_ms,
        "pods": problem.pods,
        "href": problem.href,
        "command": problem.command,
        "args": dict(problem.args),
    }


def cause_json(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.key,
        "cause": cause.cause,
        "ask": cause.ask,
        "pods": cause.pods,
        "namespaces": len(cause.namespaces),
        "since_ms": cause.since_ms,
    }


def room_json(room: Room) -> dict[str, Any]:
    sums = room.sums
    return {
        "id": room.model,
        "model": room.model,
        "gpus": sums.gpus,
        "mem_mib": sums.mem_mib,
        "cores": sums.cores,
        "shares": sums.shares,
        "whole": sums.whole,
        "block": room.block,
        "block_nodes": room.block_nodes,
        "piece_mib": room.piece_mib,
        "pieces": sums.pieces,
        "stranded_mib": sums.stranded_mib,
    }


def leader_json(picture: Picture) -> dict[str, Any]:
    leader = picture.leader
    return {
        "holder": leader.holder,
        "seen_ms": leader.seen_ms,
        "is_leader": leader.is_leader,
        "is_elected": leader.is_elected,
        "is_synced": leader.is_synced,
        "duration_seconds": leader.duration_seconds,
    }
