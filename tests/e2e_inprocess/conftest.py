"""An embedded cluster with the product beside it. A test says by parametrisation what is different."""

from collections.abc import Iterator
from typing import Any

import pytest

from simcluster.cluster import Cluster
from tests.e2e_inprocess.product import Product, cluster_for, free_port


@pytest.fixture
def fleet() -> str:
    return "nvidia:2x2"


@pytest.fixture
def cluster_settings() -> dict[str, Any]:
    return {}


@pytest.fixture
def flags() -> dict[str, float]:
    return {}


@pytest.fixture
def pair(
    fleet: str, cluster_settings: dict[str, Any], flags: dict[str, float]
) -> Iterator[tuple[Cluster, Product]]:
    """Start both and wait until the product has registered the cluster's nodes."""
    port = free_port()
    with (
        cluster_for(port, fleet=fleet, **cluster_settings) as cluster,
        Product(cluster.url, extender_port=port, **flags) as product,
    ):
        product.wait_ready()
        yield cluster, product
