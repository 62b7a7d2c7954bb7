import json

import pytest

from scheduler_app.core.types import Lease
from scheduler_app.kube.lease import decode_lease, lease_resource


def page(spec: object) -> bytes:
    item = {"metadata": {"name": "hami", "namespace": "kube-system", "resourceVersion": "4"}, "spec": spec}
    return json.dumps({"kind": "LeaseList", "metadata": {"resourceVersion": "9"}, "items": [item]}).encode()


@pytest.mark.parametrize(
    ("spec", "lease"),
    [
        (
            {
                "holderIdentity": "host_1",
                "leaseDurationSeconds": 15,
                "renewTime": "2026-01-02T15:04:05.000000Z",
                "leaseTransitions": 3,
            },
            Lease("host_1", 15, "2026-01-02T15:04:05.000000Z"),
        ),
        ({"holderIdentity": None, "leaseDurationSeconds": None}, Lease()),
        ({}, Lease()),
        (None, Lease()),
    ],
)
def test_a_partial_lease_is_one_by_which_nobody_leads(spec: object, lease: Lease) -> None:
    """L-4, E06."""
    resource = lease_resource("kube-system", "hami")
    found = resource.page(page(spec), malformed=lambda key, problem: pytest.fail(problem))
    assert found.items[0].value == lease
    assert decode_lease({"metadata": {"name": "hami"}, "spec": spec}) == lease


def test_only_the_lease_of_that_name_is_followed() -> None:
    """L-3."""
    resource = lease_resource("kube-system", "hami")
    assert resource.path == "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    assert resource.query == {"fieldSelector": "metadata.name=hami"}
