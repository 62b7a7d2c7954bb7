"""What a pod asks, as people read it."""

import pytest

from scheduler_app.core.display import Asked
from scheduler_app.core.predicate import requests_of
from scheduler_app.core.publication import AskView
from scheduler_app.core.types import CardRequest
from scheduler_app.engine.asks import asks
from tests.core.plain import COUNT, PlainBackend
from tests.devices.nvidia.cards import CORES, GPU, MEM, NVIDIA, PERCENT
from tests.engine.world import VENDOR
from tests.factories import make_container, make_pod

BACKENDS = {NVIDIA.vendor_key: NVIDIA}


def asked(limits: dict[str, object], **annotations: str) -> AskView:
    pod = make_pod(containers=(make_container(limits=limits),), annotations=annotations)
    (found,) = asks(pod, requests_of(pod, BACKENDS), backends=BACKENDS)
    return found


@pytest.mark.parametrize(
    ("limits", "is_whole"),
    [
        ({GPU: 1}, True),
        ({GPU: 2, CORES: 30}, True),
        ({GPU: 1, MEM: 3000}, False),
        ({GPU: 1, PERCENT: 50}, False),
        ({GPU: 1, PERCENT: 100}, False),
        ({GPU: 1, MEM: 0}, False),
    ],
)
def test_w14_a_bare_count_asks_for_whole_cards(limits: dict[str, object], is_whole: bool) -> None:
    """NV-24: and who says how much, be it all, has said so."""
    assert asked(limits).is_whole is is_whole


def test_w14_where_no_memory_is_counted_a_bare_count_asks_for_none() -> None:
    """The vendor says what is asked; of whole cards and slices that is no amount of memory."""

    class Slices(PlainBackend):
        asked_cores_unit = "EU"

        def asked(self, request: CardRequest) -> Asked:
            return Asked(cores=3, slices=2)

    pod = make_pod(containers=(make_container(limits={COUNT: 1}),))
    backends = {VENDOR: Slices()}
    whole = ({VENDOR: CardRequest(1, VENDOR, mem_percent=100)},)
    (found,) = asks(pod, whole, backends=backends)
    assert (found.mem_mib, found.mem_percent, found.cores, found.cores_unit, found.slices) == (
        0,
        0,
        3,
        "EU",
        2,
    )
    assert not found.is_whole


def test_f22_the_lists_of_models_are_told_as_the_pod_has_them() -> None:
    """P-16."""
    found = asked({GPU: 1}, **{"nvidia.com/use-gputype": " H20 ", "nvidia.com/nouse-gputype": "H200"})
    assert (found.models, found.no_models) == ("H20", "H200")
    assert (asked({GPU: 1}).models, asked({GPU: 1}).no_models) == ("", "")
