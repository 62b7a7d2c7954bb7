"""What kube-scheduler is answered, in the words of its protocol."""

from collections.abc import Mapping
from typing import Any

from scheduler_app.conformance.world import World
from scheduler_app.core.decision import Decision
from scheduler_app.core.types import NodeName
from scheduler_app.kube import decode

Json = dict[str, Any]


def filter(world: World, args: Mapping[str, Any]) -> Json:
    """Answer ``/filter``."""
    nodes = args.get("Nodes")
    decoded = None if nodes is None else [decode.decode_node(item) for item in nodes["items"]]
    names = args.get("NodeNames")
    decision = world.scheduler.filter(
        decode.decode_pod(args["Pod"]),
        names=None if names is None else [NodeName(n) for n in names],
        nodes=decoded,
    )
    return _answer(decision, nodes)


def _answer(decision: Decision, nodes: Any) -> Json:
    answer: Json = {"NodeNames": None, "Nodes": None, "FailedNodes": None, "Error": decision.error}
    refused = dict(decision.refused)
    match decision.kind:
        case "passed_through":
            answer["NodeNames"] = decision.echoed_names
            answer["Nodes"] = nodes
        case "placed" if decision.chosen:
            answer["NodeNames"] = [decision.chosen.node]
        case "refused":
            answer["FailedNodes"] = refused
        case "simulated":
            answer["FailedNodes"] = refused
            if decision.chosen:
                chosen = decision.chosen.node
                items = [item for item in nodes["items"] if item["metadata"]["name"] == chosen]
                answer["Nodes"] = {"items": items}
        case _:
            pass
    return answer
