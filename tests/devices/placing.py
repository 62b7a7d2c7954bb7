"""One node on which pods are placed one after the other, counted as the engine counts them."""

from collections.abc import Mapping
from dataclasses import replace

from scheduler_app.core.annotations import ASSIGNED_NODE
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.predicate import Ask, Outcome, predicate, requests_of
from scheduler_app.core.types import CardUsage, Container, Node, NodeUsage, Pod, VendorKey
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.registration import cards_of
from tests.factories import make_pod


class OneNode:
    """Remembers what earlier pods hold; ``written`` are the annotations of the latest pod that fitted."""

    def __init__(self, *backends: DeviceBackend, node: Node) -> None:
        self.backends = {backend.vendor_key: backend for backend in backends}
        self.state = ClusterState(self.backends)
        self.register(node)
        self.written: dict[str, str] = {}
        self.pods: list[Pod] = []
        self._asked = 0

    def register(self, node: Node) -> None:
        """Take what the node says of its cards now."""
        self.node = node
        self.state.merge_node(node, cards_of(node, self.backends))

    @property
    def usage(self) -> NodeUsage:
        return self.state.everything()[self.node.name]

    def card(self, id: str) -> CardUsage:
        return next(card for card in self.usage.cards if card.id == id)

    def place(
        self,
        *containers: Container,
        init: tuple[Container, ...] = (),
        annotations: Mapping[str, str] | None = None,
        policy: str = "spread",
        node_policy: str = "binpack",
    ) -> Outcome:
        """Say what the node offers a pod, and count it if it fits."""
        self._asked += 1
        pod = make_pod(
            name=f"p{self._asked}",
            containers=containers,
            init_containers=init,
            annotations=dict(annotations or {}),
        )
        outcome = self.offer(pod, policy=policy, node_policy=node_policy)
        if outcome.devices is not None:
            named = replace(pod, annotations={**pod.annotations, ASSIGNED_NODE: self.node.name})
            self.written = self._handed_over(named, outcome)
            placed = replace(named, annotations={**named.annotations, **self.written})
            self.state.assume(placed, before=pod, node=self.node.name, devices=outcome.devices)
            self.pods.append(placed)
        return outcome

    def offer(self, pod: Pod, *, policy: str = "spread", node_policy: str = "binpack") -> Outcome:
        """Say what the node would give a pod; nothing is counted."""
        ask = Ask(pod, requests_of(pod, self.backends), self.backends, node_policy, policy)
        return predicate(ask, self.usage)

    def end(self, pod: Pod) -> None:
        """Let one of ``pods`` go."""
        self.pods.remove(pod)
        self.state.lose_pod(pod.uid)

    def taken(self, outcome: Outcome, vendor: str) -> list[list[str]]:
        """Return the ids that each container was given."""
        assert outcome.devices is not None, outcome.reason
        return [[str(held.card) for held in container] for container in outcome.devices[VendorKey(vendor)]]

    def _handed_over(self, pod: Pod, outcome: Outcome) -> dict[str, str]:
        written: dict[str, str] = {}
        for vendor, containers in (outcome.devices or {}).items():
            written.update(
                self.backends[vendor].annotations(pod, containers, now_ns=1_700_000_000_000_000_000)
            )
        return written
