"""Which locks a pod takes, and in which order, with the backends of the shipped configuration."""

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import Container, Pod
from scheduler_app.engine.lockset import LockSet
from tests.devices.machines import SHIPPED
from tests.factories import make_container, make_node, make_pod
from tests.fakes.cluster import FakeLocks

NODE = make_node("n1")
LOCKING = {key: backend for key, backend in SHIPPED.backends.items() if backend.node_lock is not None}
BACKWARDS = dict(sorted(SHIPPED.backends.items(), reverse=True))


@pytest.fixture(params=SHIPPED.backends.values(), ids=lambda backend: backend.vendor_key)
def backend(request: pytest.FixtureRequest) -> DeviceBackend:
    assert isinstance(request.param, DeviceBackend)
    return request.param


def asking(*backends: DeviceBackend) -> Container:
    return make_container(limits={backend.names.count: 1 for backend in backends})


def taken(pod: Pod) -> list[str]:
    """Return the annotations of the locks that a pod takes, in that order."""
    locks = FakeLocks()
    lockset = LockSet(BACKWARDS, locks=locks)
    lockset.acquire(lockset.wanted(pod), node=NODE, pod=pod)
    return [call[1] for call in locks.calls]


def test_a_pod_takes_the_lock_of_its_own_vendor_and_no_other(backend: DeviceBackend) -> None:
    """IF-7, VA-8."""
    own = [backend.node_lock.annotation] if backend.node_lock else []
    assert taken(make_pod(containers=(asking(backend),))) == own


def test_a_pod_without_cards_takes_none() -> None:
    """IF-7: nor does one that asks for no card by number."""
    zero = make_container(limits={backend.names.count: 0 for backend in SHIPPED.backends.values()})
    assert taken(make_pod(containers=(make_container(limits={"cpu": 1}), zero))) == []


def test_locks_are_taken_in_ascending_order_of_their_vendors() -> None:
    """IF-7, B-5: so that two pods that want two locks cannot each hold one of them."""
    pod = make_pod(containers=(asking(*LOCKING.values()),))
    expected = [lock.annotation for _, backend in sorted(LOCKING.items()) if (lock := backend.node_lock)]
    assert taken(pod) == expected
    assert len(set(expected)) > 1
