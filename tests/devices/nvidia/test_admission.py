"""What admission makes of a container, and what scheduling then reads of it (NV-20 to NV-35)."""

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.types import CardRequest, Container
from scheduler_app.devices.nvidia.backend import NvidiaBackend
from tests.devices.nvidia.cards import CORES, GPU, MEM, NVIDIA, PERCENT, PRIORITY, config
from tests.factories import make_container, make_draft

Amounts = Mapping[str, object]
Request = tuple[int, int, int, int] | None
FORCED = NvidiaBackend(config(overwrite_env=True, gpu_core_policy="force", runtime_class_name="nvidia"))


def mutate(
    limits: Amounts | None = None, requests: Amounts | None = None, *, backend: NvidiaBackend = NVIDIA
) -> tuple[bool, ContainerDraft]:
    draft = make_draft("c1", limits=dict(limits or {}), requests=dict(requests or {}))
    return backend.mutate(draft, draft.pod), draft


def shape(request: CardRequest | None) -> Request:
    """Return ``(cards, MiB, percent, cores)`` as the case tables write a request."""
    if request is None:
        return None
    return request.cards, request.mem_mib, request.mem_percent, request.cores


def extract(
    limits: Amounts | None = None, requests: Amounts | None = None, *, backend: NvidiaBackend = NVIDIA
) -> Request:
    return shape(backend.request(make_container(limits=limits or {}, requests=requests or {})))


def extracted_from(draft: ContainerDraft, backend: NvidiaBackend = NVIDIA) -> Request:
    return shape(backend.request(Container("c1", draft.limits, draft.requests)))


@pytest.mark.parametrize(
    ("case", "limits", "requests", "after", "request_"),
    [
        ("E01", {GPU: 1}, {}, {GPU: "1", CORES: "100"}, (1, 0, 100, 100)),
        ("E02", {MEM: 1000}, {}, {MEM: "1000", GPU: "1"}, (1, 1000, 101, 0)),
        ("E03", {CORES: 30}, {}, {CORES: "30", GPU: "1"}, (1, 0, 100, 30)),
        ("E04", {PERCENT: 50}, {}, {PERCENT: "50", GPU: "1"}, (1, 0, 50, 0)),
        ("E04", {PERCENT: 100}, {}, {PERCENT: "100", GPU: "1", CORES: "100"}, (1, 0, 100, 100)),
        ("E05", {}, {GPU: 1}, {CORES: "100"}, (1, 0, 100, 100)),
        ("E07", {MEM: 1000}, {GPU: 3}, {MEM: "1000", GPU: "1"}, (1, 1000, 101, 0)),
        ("E10", {GPU: 1, PERCENT: 0}, {}, {GPU: "1", PERCENT: "0"}, (1, 0, 100, 0)),
        ("E10", {GPU: 1, MEM: 0}, {}, {GPU: "1", MEM: "0"}, (1, 0, 100, 0)),
        ("E12", {PERCENT: 50}, {PERCENT: 101}, {PERCENT: "50", GPU: "1"}, (1, 0, 50, 0)),
        (
            "E13",
            {GPU: 1, PERCENT: 100, MEM: 1000},
            {},
            {GPU: "1", PERCENT: "100", MEM: "1000", CORES: "100"},
            (1, 1000, 100, 100),
        ),
        ("E14", {GPU: 1}, {CORES: 20}, {GPU: "1"}, (1, 0, 100, 20)),
        (
            "E15",
            {GPU: 1, PERCENT: "99500m"},
            {},
            {GPU: "1", PERCENT: "99500m", CORES: "100"},
            (1, 0, 100, 100),
        ),
        ("E15", {GPU: 1, PERCENT: "500m"}, {}, {GPU: "1", PERCENT: "500m"}, (1, 0, 100, 0)),
        ("E09", {GPU: 0}, {}, {GPU: "0", CORES: "100"}, (0, 0, 100, 100)),
        ("E09", {GPU: -1}, {}, {GPU: "-1", CORES: "100"}, (-1, 0, 100, 100)),
    ],
)
def test_admission_completes_a_container(
    case: str, limits: Amounts, requests: Amounts, after: Mapping[str, str], request_: Request
) -> None:
    """NV-E01 to NV-E15."""
    found, draft = mutate(limits, requests)
    assert found, case
    assert draft.limits == after
    assert extracted_from(draft) == request_


@pytest.mark.parametrize("requests", [{GPU: 1, MEM: 1000}, {MEM: 1000}, {CORES: 10}, {PERCENT: 10}])
def test_requests_without_limits_are_not_taken_over(requests: Amounts) -> None:
    """NV-E06, NV-E08, NV-29."""
    found, draft = mutate(requests=requests)
    assert (found, draft.pod.operations) == (False, [])


@pytest.mark.parametrize("group", ["limits", "requests"])
@pytest.mark.parametrize(("text", "shown"), [("101", "101"), ("-1", "-1"), ("100500m", "101")])
@pytest.mark.parametrize("others", [{}, {GPU: 1}])
def test_a_percentage_above_100_is_refused_everywhere(
    group: str, text: str, shown: str, others: Amounts
) -> None:
    """NV-E11, NV-20."""
    with pytest.raises(AdmissionError) as raised:
        mutate(*[{**others, PERCENT: text} if name == group else {} for name in ("limits", "requests")])
    assert str(raised.value) == (
        f"invalid nvidia.com/gpumem-percentage value {shown} in container c1: "
        "must be an integer between 0 and 100"
    )


@pytest.mark.parametrize("resource", [GPU, CORES])
@pytest.mark.parametrize("amount", ["2147483648", "4294967297", "-2147483649"])
def test_amounts_that_would_wrap_are_refused(resource: str, amount: str) -> None:
    """Architecture, section 7: the reference reads 4294967297 as 1."""
    with pytest.raises(AdmissionError, match=f"^invalid {resource} value {amount} in container c1: must be"):
        mutate({GPU: 1, resource: amount})
    assert extract({GPU: 1, resource: amount}) is None


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({GPU: "1500m"}, f"container c1: {GPU} is 1500m, must be a whole number between 0 and 2147483647"),
        ({GPU: 1, MEM: -5}, f"container c1: {MEM} is -5, must be a whole number between 0 and 2147483647"),
        ({GPU: 1, CORES: 101}, f"container c1: {CORES} is 101, must be a whole number between 0 and 100"),
        (
            {GPU: 1, PERCENT: "50500m"},
            f"container c1: {PERCENT} is 50500m, must be a whole number between 0 and 100",
        ),
    ],
)
def test_amounts_that_scheduling_cannot_use_earn_a_warning(limits: Amounts, named: str) -> None:
    """Architecture, section 7 (W16, W17): the pod goes on, as in the reference."""
    _, draft = mutate(limits)
    assert draft.pod.warnings == [named]


@pytest.mark.parametrize(("number", "found", "count"), [(0, False, None), (4, True, "4"), (-1, False, None)])
def test_memory_alone_asks_for_the_default_number_of_cards(
    number: int, found: bool, count: str | None
) -> None:
    """NV-E16."""
    answer, draft = mutate({MEM: 1000}, backend=NvidiaBackend(config(default_gpu_num=number)))
    assert (answer, draft.limits.get(GPU)) == (found, count)


def test_default_memory_comes_with_all_cores() -> None:
    """NV-E17: the defaults are not consulted when the exclusive cores are set."""
    backend = NvidiaBackend(config(default_memory=512, default_cores=20))
    for limits, expected in (({GPU: 1}, (1, 512, 101, 100)), ({GPU: 1, MEM: 0}, (1, 512, 101, 20))):
        _, draft = mutate(limits, backend=backend)
        assert extracted_from(draft, backend) == expected


def test_every_container_is_told_the_core_policy() -> None:
    """NV-E18: also one without a card, which is blinded as well."""
    found, draft = mutate({"cpu": 1}, backend=FORCED)
    assert not found
    assert draft.env() == [
        {"name": "GPU_CORE_UTILIZATION_POLICY", "value": "force"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"},
    ]
    assert draft.pod.runtime_class is None


def test_env_comes_after_the_users_own() -> None:
    """NV-E19, NV-28: duplicates are not looked for."""
    users = [
        {"name": "CUDA_TASK_PRIORITY", "value": "9"},
        {"name": "GPU_CORE_UTILIZATION_POLICY", "value": "x"},
    ]
    container: dict[str, Any] = {
        "name": "c1",
        "env": list(users),
        "resources": {"limits": {GPU: "1", PRIORITY: "1500m"}},
    }
    pod = PodDraft({"metadata": {}, "spec": {"containers": [container]}})
    (draft,) = pod.containers()
    assert FORCED.mutate(draft, pod)
    assert draft.env() == [
        *users,
        {"name": "CUDA_TASK_PRIORITY", "value": "2"},
        {"name": "GPU_CORE_UTILIZATION_POLICY", "value": "force"},
    ]
    assert pod.runtime_class == "nvidia"


def test_priority_counts_in_limits_only() -> None:
    """NV-E20."""
    _, draft = mutate({GPU: 1}, {PRIORITY: 1})
    assert draft.env() == []


def test_the_users_runtime_class_stays() -> None:
    """NV-26: an empty one is set, too."""
    for chosen in ("kata", ""):
        pod = PodDraft(
            {"spec": {"runtimeClassName": chosen, "containers": [{"resources": {"limits": {GPU: "1"}}}]}}
        )
        assert FORCED.mutate(pod.containers()[0], pod)
        assert pod.runtime_class == chosen


def test_a_resource_without_a_name_does_not_exist() -> None:
    """NV-E21, NV-25: nothing is ever written under an empty name."""
    backend = NvidiaBackend(config(resource_memory_name=""))
    _, draft = mutate({GPU: 1, MEM: 1000}, backend=backend)
    assert draft.limits[CORES] == "100"
    assert extracted_from(draft, backend) == (1, 0, 100, 100)
    nameless = NvidiaBackend(config(resource_count_name=""))
    found, draft = mutate({MEM: 1000}, backend=nameless)
    assert (found, draft.pod.operations) == (False, [])


@pytest.mark.parametrize(
    ("case", "limits", "requests", "expected"),
    [
        ("E22", {GPU: "1500m"}, {}, None),
        ("E22", {GPU: "2000m"}, {}, None),
        ("E22", {GPU: "1Ki"}, {}, (1024, 0, 100, 0)),
        ("E23", {GPU: 1, MEM: -1}, {}, None),
        ("E23", {GPU: 1, MEM: "1500m"}, {}, None),
        ("E23", {GPU: 1, MEM: "16Gi"}, {}, None),
        ("E23", {GPU: 1, MEM: "1.0"}, {}, None),
        ("E23", {GPU: 1, MEM: 2147483648}, {}, None),
        ("E24", {GPU: 1, MEM: "1k"}, {}, (1, 1000, 101, 0)),
        ("E24", {GPU: 1, MEM: "1e3"}, {}, (1, 1000, 101, 0)),
        ("E24", {GPU: 1, MEM: "1Gi"}, {}, (1, 1073741824, 101, 0)),
        ("E24", {GPU: 1, MEM: 2147483647}, {}, (1, 2147483647, 101, 0)),
        ("E26", {GPU: 1, PERCENT: 0}, {}, (1, 0, 100, 0)),
        ("E26", {GPU: 1, PERCENT: -1}, {}, (1, 0, 100, 0)),
        ("E26", {GPU: 1, PERCENT: "50500m"}, {}, (1, 0, 100, 0)),
        ("E26", {GPU: 1, PERCENT: 4294967346}, {}, (1, 0, 100, 0)),
        ("E26", {GPU: 1, PERCENT: 50}, {}, (1, 0, 50, 0)),
        ("E27", {GPU: 1, MEM: 2000, PERCENT: 50}, {}, (1, 2000, 50, 0)),
        ("E27", {GPU: 1, MEM: 2000, PERCENT: 0}, {}, (1, 2000, 101, 0)),
        ("E27", {GPU: 1, MEM: 0, PERCENT: 50}, {}, (1, 0, 50, 0)),
        ("E28", {GPU: 1, CORES: 250}, {}, (1, 0, 100, 250)),
        ("E28", {GPU: 1, CORES: -5}, {}, (1, 0, 100, -5)),
        ("E28", {GPU: 1, CORES: "30500m"}, {}, (1, 0, 100, 0)),
        ("E29", {GPU: 1}, {GPU: 5, MEM: 333, CORES: 44}, (1, 333, 101, 44)),
        ("none", {"cpu": 1}, {}, None),
    ],
)
def test_a_request_is_read_by_the_rules(
    case: str, limits: Amounts, requests: Amounts, expected: Request
) -> None:
    """NV-E22 to NV-E29."""
    assert extract(limits, requests) == expected, case


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({GPU: 1, MEM: 1024}, (1, 2048, 101, 0)),
        ({GPU: 1, MEM: 1073741823}, (1, 2147483646, 101, 0)),
        ({GPU: 1, MEM: 1073741824}, None),
        ({GPU: 1}, (1, 512, 101, 0)),
    ],
)
def test_the_memory_factor_scales_what_was_asked(limits: Amounts, expected: Request) -> None:
    """NV-E25: and not the default."""
    backend = NvidiaBackend(config(memory_factor=2, default_memory=512))
    assert extract(limits, backend=backend) == expected
