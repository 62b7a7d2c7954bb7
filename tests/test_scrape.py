"""The metrics door: the reference's families, then our own; nothing on a card can break it."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from scheduler_app import gauges, metrics, scrape
from scheduler_app.core.errors import HamiError
from tests.extender.door import Door, gpu_node, pod_json
from tests.factories import make_node


@pytest.fixture
def door() -> Iterator[Door]:
    door = Door(bind_wait=0.0)
    door.register(gpu_node("n1", "a"))
    yield door
    door.close()


async def get(path: str = "/metrics", method: str = "GET") -> tuple[int, dict[str, str], str]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await scrape.application({"type": "http", "path": path, "method": method}, None, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert not sent[-1].get("more_body")
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]).decode()


async def test_a_scrape_has_the_reference_s_families_and_ours(door: Door) -> None:
    """X-1, H-4."""
    door.parts.state.take_overview()
    status, headers, text = await get()
    assert status == 200
    assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
    assert "hami_gpu_memory_limit_bytes{" in text
    assert "hami_scheduler_filters" in text


@pytest.mark.parametrize("path", ["/", "/metrics/", "/filter", "/admin/"])
async def test_no_other_path_is_served(path: str) -> None:
    assert (await get(path))[0] == 404


async def test_x_1_two_cards_of_one_id_on_a_node_fail_the_scrape_whole(door: Door) -> None:
    """X-1, Q-44: nobody could tell the two samples apart."""
    door.register(gpu_node("n2", "x", "x"))
    door.parts.state.take_overview()
    status, _, text = await get()
    assert status == 500
    assert "x" in text


async def test_every_method_is_taken(door: Door) -> None:
    assert (await get(method="POST"))[0] == 200


@pytest.mark.parametrize("id", ["\ud800", 'quo"te', "line\nbreak", "back\\slash", "é漢", "\x00"])
async def test_m05_no_card_id_breaks_a_scrape(door: Door, id: str) -> None:
    """A register text may say anything; at worst that node's cards are skipped, the others stay."""
    cards = [{"id": id, "count": 1, "devmem": 1, "devcore": 1, "type": "NVIDIA", "health": True}]
    door.register(make_node("odd", annotations={"hami.io/node-nvidia-register": json.dumps(cards)}))
    door.parts.state.take_overview()
    status, _, text = await get()
    assert status == 200
    assert 'node="n1"' in text


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_m08_refusals_failures_and_binds_are_counted(door: Door) -> None:
    """Counters with bounded labels."""
    before = {
        "refused": value("hami_scheduler_filters_total", result="refused"),
        "word": value("hami_scheduler_refusals_total", reason="CardInsufficientMemory"),
        "other": value("hami_scheduler_refusals_total", reason=metrics.OTHER),
        "error": value("hami_scheduler_filters_total", result="error"),
        "failed": value("hami_scheduler_binds_total", result="failed"),
    }
    door.post("/filter", {"Pod": pod_json(mem=9000), "NodeNames": ["n1", "n9"]})
    door.writer.fails["patch_pod"] = HamiError("no")
    door.post("/filter", {"Pod": pod_json(), "NodeNames": ["n1"]})
    door.post("/bind", {"PodName": "x"})
    after = {
        "refused": value("hami_scheduler_filters_total", result="refused"),
        "word": value("hami_scheduler_refusals_total", reason="CardInsufficientMemory"),
        "other": value("hami_scheduler_refusals_total", reason=metrics.OTHER),
        "error": value("hami_scheduler_filters_total", result="error"),
        "failed": value("hami_scheduler_binds_total", result="failed"),
    }
    assert {name: after[name] - before[name] for name in before} == dict.fromkeys(before, 1.0)


CARD = {"node", "device_uuid", "device_index", "device_type", "zone"}
HOLDER = {"namespace", "node", "pod", "container_index", "device_uuid", "zone"}
BY_CARD = {
    "hami_gpu_memory_limit_bytes": CARD,
    "hami_gpu_core_limit_ratio": CARD,
    "hami_gpu_memory_allocated_bytes": CARD | {"device_cores"},
    "hami_gpu_shared_count": CARD,
    "hami_gpu_core_allocated_ratio": CARD,
    "hami_node_gpu_overview": CARD | {"device_cores", "device_memory_limit"},
    "hami_node_gpu_memory_allocated_ratio": CARD,
    "hami_vgpu_memory_allocated_bytes": HOLDER,
    "hami_vgpu_core_allocated_ratio": HOLDER,
}
OURS = {"result", "reason", "verb", "resource", "outcome", "le"}  # of an event or a part of this process


def test_m04_one_schema_of_labels_joins_what_is_told_of_a_card(door: Door) -> None:
    """X-2 to X-5: every family about cards joins on (node, device_uuid); ours name no card and no pod."""
    door.post("/filter", {"Pod": pod_json(), "NodeNames": ["n1"]})
    door.parts.state.take_overview()
    take_out = metrics.install(metrics.Gauges(lambda: gauges.read(door.parts)))
    found = labels_by_name(asyncio.run(get())[2])
    take_out()
    assert {name: found.get(name) for name in BY_CARD} == BY_CARD
    joined = [labels for name, labels in found.items() if name.startswith(("hami_gpu_", "hami_vgpu_"))]
    assert all({"node", "device_uuid"} <= labels for labels in joined)
    ours = [labels for name, labels in found.items() if name.startswith(gauges.PREFIX)]
    assert set().union(*ours) <= OURS


def labels_by_name(text: str) -> dict[str, set[str]]:
    """Return the label names of all samples of a scrape, by metric."""
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def test_our_gauges_have_our_prefix_and_bounded_labels(door: Door) -> None:
    samples = list(gauges.read(door.parts))
    assert all(name.startswith(gauges.PREFIX) for name, _, _, _ in samples)
    assert {label for _, _, labels, _ in samples for label in labels} <= {"resource", "outcome"}
    assert {name: amount for name, _, labels, amount in samples if not labels}[
        "hami_scheduler_nodes_registered"
    ] == 1.0


def test_gauges_are_taken_out_again(door: Door) -> None:
    take_out = metrics.install(metrics.Gauges(lambda: gauges.read(door.parts)))
    assert value("hami_scheduler_is_leader") == 1.0
    take_out()
    assert REGISTRY.get_sample_value("hami_scheduler_is_leader") is None


async def test_a_scrape_rests_while_a_filter_call_is_answered(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tens of megabytes are sent in pieces; between two of them whoever waits for ``/filter`` goes first."""
    door.parts.state.take_overview()
    rests: list[float] = []

    monkeypatch.setattr("scheduler_app.scrape.time.sleep", rests.append)
    await get()
    assert set(rests) == {0}
    rests.clear()
    with metrics.FILTERS_RUNNING:
        assert (await get())[0] == 200
    assert set(rests) == {scrape.REST_SECONDS}
    assert metrics.FILTERS_RUNNING.count == 0
