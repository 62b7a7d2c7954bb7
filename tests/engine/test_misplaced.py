"""What a pod's author most likely meant otherwise is said at admission, and nothing is changed for it."""

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_app import deviceconfig, vendortable
from scheduler_app.core.backend import DeviceBackend, ResourceNames
from scheduler_app.core.types import CardRequest, Container, VendorKey
from tests.core.plain import CORES, COUNT, MEM, PLAIN, PlainBackend
from tests.devices.nvidia import cards as nvidia
from tests.engine.test_admission import BOTH, Webhook, container, gpu, pod
from tests.engine.world import VENDOR

Json = dict[str, Any]


def warnings(raw: Json, webhook: Webhook | None = None) -> list[str]:
    return list((webhook or Webhook(BOTH)).review(raw).warnings)


def belongs(key: str) -> str:
    return f"annotation {key} has no effect: it belongs under resources.limits of a container"


@pytest.mark.parametrize("key", [COUNT, MEM, CORES, nvidia.MEM, nvidia.PERCENT, "nvidia.com/priority"])
def test_w15_a_resource_that_is_an_annotation_is_named_with_its_place(key: str) -> None:
    """Without it the pod gets a whole card, and nobody says why."""
    raw = pod(gpu(), meta={"annotations": {key: "3000", "mine": "y"}})
    assert warnings(raw) == [belongs(key)]


def test_w15_also_where_no_container_asks_for_a_card() -> None:
    assert warnings(pod(container(), meta={"annotations": {MEM: "1"}})) == [belongs(MEM)]


def test_w15_a_pod_of_another_scheduler_is_none_of_our_business() -> None:
    assert warnings(pod(gpu(), schedulerName="volcano", meta={"annotations": {MEM: "1"}})) == []


@pytest.mark.parametrize("limits", [{MEM: "1"}, {CORES: "1"}, {MEM: "1", CORES: "1"}])
@pytest.mark.parametrize("group", ["limits", "requests"])
def test_memory_or_cores_without_a_count_earn_a_warning(group: str, limits: Json) -> None:
    raw = pod(container("main", resources={group: limits}), gpu("other"))
    assert warnings(raw) == [f"container main: no cards without {COUNT} in limits"]


def test_a_count_that_is_completed_needs_no_warning() -> None:
    """NV-23: memory alone means the default number of cards."""
    assert warnings(pod(container(limits={nvidia.MEM: "1000"}))) == []


def test_containers_that_ask_for_everything_or_nothing_earn_none() -> None:
    assert warnings(pod(gpu(mem=1, cores=1), container("web", {"cpu": "1"}))) == []


def every_vendor() -> Webhook:
    text = vendortable.CONFIG.read_text(encoding="utf-8")
    return Webhook(deviceconfig.load(text, vendortable.all_enabled()).backends)


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        ({"huawei.com/Ascend910B3-memory": "1000"}, "huawei.com/Ascend910B3"),
        ({"hygon.com/dcumem": "1000"}, "hygon.com/dcunum"),
        ({"cambricon.com/mlu.smlu.vmemory": "10"}, "cambricon.com/vmlu"),
        ({"amd.com/gpumem": "1000"}, "amd.com/gpu"),
    ],
)
def test_the_missing_count_is_that_of_the_vendor(limits: Json, count: str) -> None:
    """Once for each container, also where the vendor says it itself (AMD-12)."""
    assert warnings(pod(container("c", limits)), every_vendor()) == [
        f"container c: no cards without {count} in limits"
    ]


class Twin(PlainBackend):
    """Another kind of card that shares the name of its memory with the first."""

    vendor_key = VendorKey("Twin")
    names = ResourceNames("twin.io/gpu", MEM)

    def request(self, container: Container) -> CardRequest | None:
        return None


def test_memory_that_another_kind_of_card_serves_is_not_missing_a_count() -> None:
    twins: Mapping[VendorKey, DeviceBackend] = {VENDOR: PLAIN, Twin.vendor_key: Twin()}
    assert warnings(pod(gpu(mem=1)), Webhook(twins)) == []
