"""What a container asks of shared Metax cards. Rules MXS-5, MXS-6, cases MXS-E01 to MXS-E13."""

import pytest

from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.types import CardRequest
from tests.devices.metax.cards import APP_CLASS, CORES, COUNT, KEY, MEM, QOS, SGPU
from tests.factories import make_container

CLASS_ERROR = f"{APP_CLASS} must be set one of [online, offline]"
QOS_ERROR = f"{QOS} must be set one of [best-effort, fixed-share, burst-share]"


def draft(annotations: dict[str, str], limits: dict[str, str]) -> ContainerDraft:
    pod = {
        "metadata": {"annotations": dict(annotations)},
        "spec": {"containers": [{"name": "main", "resources": {"limits": dict(limits)}}]},
    }
    return PodDraft(pod).containers()[0]


@pytest.mark.parametrize(
    ("annotations", "count", "qos"),
    [
        ({}, "1", "best-effort"),
        ({}, "0", "best-effort"),
        ({APP_CLASS: "offline"}, "1", "best-effort"),
        ({QOS: "fixed-share"}, "2", "fixed-share"),
        ({APP_CLASS: "online"}, "1", None),
        ({APP_CLASS: "online"}, "500m", None),
        ({APP_CLASS: "online", QOS: "best-effortx"}, "1", "best-effortx"),
    ],
)
def test_the_policy_defaults_to_best_effort(annotations: dict[str, str], count: str, qos: str | None) -> None:
    """MXS-2, MXS-E01, MXS-E05 to MXS-E07."""
    container = draft(annotations, {COUNT: count})
    assert SGPU.mutate(container, container.pod) is True
    assert container.pod.annotations.get(QOS) == qos


@pytest.mark.parametrize(
    ("annotations", "count", "message"),
    [
        ({APP_CLASS: "oNLine"}, "2", CLASS_ERROR),
        ({APP_CLASS: ""}, "1", CLASS_ERROR),
        ({APP_CLASS: "online"}, "2", "app-class pod must request single device"),
        ({APP_CLASS: "online"}, "0", "app-class pod must request single device"),
        ({APP_CLASS: "offline", QOS: "best-effortx"}, "1", QOS_ERROR),
        ({QOS: ""}, "1", QOS_ERROR),
    ],
)
def test_classes_and_policies_that_do_not_exist_are_refused(
    annotations: dict[str, str], count: str, message: str
) -> None:
    """MXS-E04 to MXS-E06."""
    container = draft(annotations, {COUNT: count})
    with pytest.raises(AdmissionError) as refused:
        SGPU.mutate(container, container.pod)
    assert str(refused.value) == message


def test_a_pod_without_shared_cards_is_not_ours() -> None:
    """MXS-E02, MXS-5."""
    container = draft({APP_CLASS: "nonsense"}, {MEM: "16"})
    assert SGPU.mutate(container, container.pod) is False
    assert container.pod.operations == []


@pytest.mark.parametrize(
    ("limits", "is_told"),
    [
        ({COUNT: "1", MEM: "16"}, False),
        ({COUNT: "1", MEM: "16Gi"}, False),
        ({COUNT: "1", MEM: "0"}, False),
        ({COUNT: "1", MEM: "1000"}, True),
        ({COUNT: "1", MEM: "500m"}, True),
        ({COUNT: "1", MEM: "2097152"}, True),
        ({COUNT: "1", MEM: "-5Gi"}, True),
        ({COUNT: "1500m"}, True),
        ({COUNT: "4294967297"}, True),
        ({COUNT: "1", CORES: "1500m"}, True),
    ],
)
def test_amounts_that_are_not_read_as_written_earn_a_warning(limits: dict[str, str], is_told: bool) -> None:
    """Architecture, section 7: the pod is admitted as the reference admits it, and the user is told."""
    container = draft({}, limits)
    assert SGPU.mutate(container, container.pod) is True
    assert bool(container.pod.warnings) is is_told
    assert all("container main: metax-tech.com/" in warning for warning in container.pod.warnings)


@pytest.mark.parametrize(
    ("text", "mem_mib"),
    [
        ("16", 16384),
        ("16Gi", 16384),
        ("16384Mi", 16384),
        ("512Mi", 512),
        ("1Ti", 1048576),
        ("1000", 0),
        ("2000", 0),
        ("1k", 0),
        ("1e3", 0),
        ("1023Ki", 0),
        ("500m", 0),
        ("-1m", 0),
        ("-1k", 0),
        ("100Ti", 0),
        ("1024", 1048576),
        ("1500", 1536000),
        ("2097151", 2147482624),
        ("999999", 1023998976),
        ("16G", 15258),
        ("1500k", 1),
        ("100M", 95),
        ("1e1", 10240),
        ("1e2", 102400),
        ("1.5e3", 1536000),
        ("0.5e1", 5120),
        ("2e0", 0),
        ("1.5e1", 0),
        ("0", 0),
    ],
)
def test_a_bare_number_is_gib_and_one_with_a_unit_is_bytes(text: str, mem_mib: int) -> None:
    """MXS-E08 to MXS-E11 [quirk]: 0 is the whole card."""
    asked = SGPU.request(make_container(limits={COUNT: 1, MEM: text}))
    assert asked == CardRequest(1, KEY, mem_mib, 0 if mem_mib else 100, 100)


@pytest.mark.parametrize("text", ["-1", "-5Gi", "2097152", "2147483648"])
def test_memory_out_of_range_is_no_request(text: str) -> None:
    """MXS-E10, MXS-E11."""
    assert SGPU.request(make_container(limits={COUNT: 1, MEM: text})) is None


@pytest.mark.parametrize(
    ("text", "cores"), [("0", 0), ("150", 150), ("1500m", 100), ("-1", None), ("2147483648", None)]
)
def test_cores_are_all_of_the_card_unless_they_can_be_read(text: str, cores: int | None) -> None:
    """MXS-E12."""
    asked = SGPU.request(make_container(limits={COUNT: 1, CORES: text}))
    assert asked == (None if cores is None else CardRequest(1, KEY, 0, 100, cores))


@pytest.mark.parametrize("text", ["1500m", "-1", "0", "2147483648"])
def test_a_count_out_of_range_is_no_request(text: str) -> None:
    """MXS-E13."""
    assert SGPU.request(make_container(limits={COUNT: text})) is None


def test_requests_are_never_consulted() -> None:
    """MXS-E02, MXS-E03."""
    assert SGPU.request(make_container(requests={COUNT: 1, MEM: 16})) is None
    mixed = make_container(limits={COUNT: 1}, requests={MEM: 16, CORES: 5})
    assert SGPU.request(mixed) == CardRequest(1, KEY, 0, 100, 100)
