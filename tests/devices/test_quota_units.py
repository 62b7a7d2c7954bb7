"""Quotas of memory: limit and request in one unit, for every vendor (Q06, Q-25)."""

from typing import Any

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.types import Allocation, CardId, NodeName, ResourceQuota
from scheduler_app.devices import vendors
from scheduler_app.engine.admission import Admission, Verdict
from scheduler_app.engine.cache import ClusterState
from tests.devices.filled import build_filled
from tests.factories import make_container, make_pod
from tests.fakes.clock import FakeClock
from tests.fakes.told import FakeLog

LIMITED = [backend for vendor in vendors() for backend in build_filled(vendor) if backend.names.mem]
ROUNDED = {"Enflame", "XPU", "ascend.io/common_word"}
"""Amounts become slices or templates of a card (ENF-6, KLV-4), so that a limit is not met exactly."""
EXACT = [backend for backend in LIMITED if backend.vendor_key not in ROUNDED]


NAMELESS = [b for vendor in vendors() for b in build_filled(vendor) if not (b.names.mem or b.names.cores)]


def asked(backend: DeviceBackend, units: int, *, cards: int = 1) -> Any:
    limits = {backend.names.count: str(cards), backend.names.mem: str(units)}
    container = {"name": "c", "resources": {"limits": limits}}
    return {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [container]}}


class Namespace:
    """A namespace with a limit of so many units of a vendor's memory, and with what is used of it."""

    def __init__(self, backend: DeviceBackend, *, limit: int) -> None:
        self.backend, backends = backend, {backend.vendor_key: backend}
        self.state = ClusterState(backends)
        hard = {f"limits.{backend.names.mem}": str(limit)}
        self.state.see_quota(ResourceQuota("default", "team", hard))
        config = SchedulerConfig(scheduler_name="hami")
        self.admission = Admission(
            backends=backends, state=self.state, log=FakeLog(), config=config, clock=FakeClock()
        )

    def review(self, units: int, *, cards: int = 1) -> Verdict:
        return self.admission.review(asked(self.backend, units, cards=cards), namespace="default")

    def run(self, units: int) -> None:
        """Count a pod that was given what it asks."""
        limits = {self.backend.names.count: 1, self.backend.names.mem: units}
        request = self.backend.request(make_container(limits=limits))
        assert request is not None
        held = Allocation(CardId("a"), self.backend.vendor_key, request.mem_mib, 0)
        pod = make_pod(name="running", containers=(make_container(limits=limits),))
        self.state.assume(pod, before=pod, node=NodeName("n1"), devices={self.backend.vendor_key: ((held,),)})


@pytest.mark.parametrize("backend", EXACT, ids=lambda backend: backend.vendor_key)
def test_q06_a_limit_holds_in_the_unit_of_the_resource(backend: DeviceBackend) -> None:
    """M-31: 96 asked of 64 are refused and 64 are not, whatever one unit is; so with what runs already."""
    namespace = Namespace(backend, limit=64)
    refused = namespace.review(96)
    assert (refused.code, refused.message) == (403, "exceeding resource quota")
    assert namespace.review(64).is_allowed
    namespace = Namespace(backend, limit=96)
    namespace.run(64)
    assert namespace.review(32).is_allowed
    assert namespace.review(64).code == 403


@pytest.mark.parametrize(
    "backend",
    [backend for backend in EXACT if backend.vendor_key != "Mthreads"],  # several are whole cards (MT-11)
    ids=lambda backend: backend.vendor_key,
)
def test_memory_is_what_each_of_several_cards_gives(backend: DeviceBackend) -> None:
    """VB-27, VC-13: 33 of each of two cards are more than 64."""
    namespace = Namespace(backend, limit=64)
    assert namespace.review(32, cards=2).is_allowed
    assert namespace.review(33, cards=2).code == 403


@pytest.mark.parametrize("backend", NAMELESS, ids=lambda backend: backend.vendor_key)
def test_vendors_without_memory_and_cores_know_no_quota(backend: DeviceBackend) -> None:
    """VC-13, M-25: not even one of their cards."""
    state = ClusterState({backend.vendor_key: backend})
    state.see_quota(ResourceQuota("default", "team", {f"limits.{backend.names.count}": "0"}))
    admission = Admission(
        backends={backend.vendor_key: backend},
        state=state,
        log=FakeLog(),
        config=SchedulerConfig(scheduler_name="hami"),
        clock=FakeClock(),
    )
    raw = asked(backend, 1)
    assert admission.review(raw, namespace="default").is_allowed
    assert raw["spec"]["schedulerName"] == "hami"


def test_vendors_without_memory_and_cores_are_those_of_whole_cards() -> None:
    """VC-13."""
    assert {backend.vendor_key for backend in NAMELESS} >= {"GCU", "Metax-GPU", "kunlun"}


def test_q06_units_of_several_sizes_are_among_them() -> None:
    assert {backend.names.mem_unit for backend in EXACT} == {"MiB", "256 MiB", "512 MiB", "GiB"}
    assert {backend.vendor_key for backend in LIMITED} >= ROUNDED
