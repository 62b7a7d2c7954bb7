"""AWS Neuron's nodes as the case tables write them."""

from scheduler_app.core.types import Node
from scheduler_app.devices import awsneuron
from tests.factories import make_node

COUNT, CORES = "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"
ALLOCATED = "hami.io/aws-neuron-devices-allocated"
LABEL = "node.kubernetes.io/instance-type"


def backend(cores_per_card: int = 2) -> awsneuron.AwsNeuronBackend:
    """Return a backend that has seen a node of cards with so many cores; 0 for none."""
    neuron = awsneuron.AwsNeuronBackend(awsneuron.Config(COUNT, CORES))
    if cores_per_card:
        neuron.node_cards(node(1, cores_per_card))
    return neuron


def node(cards: int, cores: int | None, kind: str = "inf2.24xlarge", name: str = "n1") -> Node:
    capacity = {COUNT: str(cards)} | ({} if cores is None else {CORES: str(cores)})
    return make_node(name, capacity=capacity, labels={LABEL: kind})
