"""Q-7: a pod without devices gets back whichever of Nodes and NodeNames came."""

from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.core.predicate import requests_of
from scheduler_app.kube import decode


class NodesEchoed(Judge):
    def decision(self, seen: Seen) -> Seen:
        if seen.is_live or any(requests_of(decode.decode_pod(seen.pod), self.world.backends)):
            return seen
        return seen.expecting(nodes=seen.step["nodes"])
