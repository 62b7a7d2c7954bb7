"""How shared Metax cards count against a namespace's limits: at admission other than in use."""

from typing import Any

import pytest

from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.types import ResourceQuota
from scheduler_app.engine.admission import Admission
from tests.devices.metax.cards import APP_CLASS, CORES, COUNT, KEY, MEM, SGPU, sgpu_node, wants
from tests.devices.placing import OneNode
from tests.fakes.clock import FakeClock
from tests.fakes.told import FakeLog


class Namespace:
    """The namespace ``default`` with limits, and a node of one 64 GiB card."""

    def __init__(self, **hard: str) -> None:
        names = {"mem": MEM, "cores": CORES}
        self.node = OneNode(SGPU, node=sgpu_node(0))
        limits = {f"limits.{names[key]}": text for key, text in hard.items()}
        self.node.state.see_quota(ResourceQuota("default", "team", limits))
        self.admission = Admission(
            backends={KEY: SGPU},
            state=self.node.state,
            log=FakeLog(),
            config=SchedulerConfig(scheduler_name="hami"),
            clock=FakeClock(),
        )

    def admits(self, annotations: dict[str, str] | None = None, **limits: str) -> bool:
        names = {"mem": MEM, "cores": CORES}
        asked = {COUNT: "1", **{names[key]: text for key, text in limits.items()}}
        container = {"name": "c", "resources": {"limits": asked}}
        metadata: dict[str, Any] = {"name": "p", "namespace": "default", "annotations": annotations or {}}
        raw = {"metadata": metadata, "spec": {"containers": [container]}}
        return self.admission.review(raw, namespace="default").is_allowed

    def used(self, resource: str) -> int:
        return self.node.state.quota("default").entries[resource].used


def test_a_whole_card_is_admitted_under_any_limit_of_memory_and_counts_afterwards() -> None:
    """MXS-16 [quirk]: without an amount 0 MiB are asked, and all of the card is used."""
    namespace = Namespace(mem="1")
    assert not namespace.admits(mem="2")
    assert namespace.admits()
    assert namespace.node.place(wants(1)).devices is not None
    assert namespace.used(MEM) == 65536


@pytest.mark.parametrize(("app_class", "used"), [("online", 0), ("offline", 100)])
def test_an_online_pod_asks_cores_at_admission_that_it_never_uses(app_class: str, used: int) -> None:
    """MXS-16 [quirk]: 100 where it names none, as any other pod."""
    annotations = {APP_CLASS: app_class}
    assert not Namespace(cores="99").admits(annotations)
    namespace = Namespace(cores="100")
    assert namespace.admits(annotations)
    assert namespace.node.place(wants(1, gib=1), annotations=annotations).devices is not None
    assert namespace.used(CORES) == used


@pytest.mark.parametrize(("limit", "is_limit"), [("16", True), ("16Gi", False)])
def test_a_limit_with_a_unit_means_nothing(limit: str, is_limit: bool) -> None:
    """MXS-16 [quirk]: its bytes are taken for GiB, although a request with a unit is read as bytes."""
    assert Namespace(mem=limit).admits(mem="16Gi")
    assert Namespace(mem=limit).admits(mem="17Gi") is not is_limit
    assert Namespace(mem=limit).admits(mem="1023") is not is_limit
