"""The reference's metric families as text (X-1 to X-4, core specification section 10)."""

import re
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from scheduler_app.core.types import Card, CardId, NodeName, Placement, ResourceQuota, SliceInUse
from scheduler_app.devices.amd import VENDOR as AMD
from scheduler_app.exposition import MEM_LIMIT, Exposition, escape, number, sample
from tests.core.plain import MEM
from tests.engine.world import VENDOR, World, asking, holding, pod_of, registered
from tests.factories import make_node

MIB = 1024 * 1024
CARD = 'device_index="0",device_type="Plain-1",device_uuid="a",node="n1",zone="vGPU"'


class Scrapes:
    """A world whose metrics are read; the overview is taken anew for each scrape unless told otherwise."""

    def __init__(self, *, legacy: bool = False) -> None:
        self.world = World(registered("n1", "a"))
        self.exposition = Exposition(backends=self.world.backends, legacy=legacy)

    def text(self, *, fresh: bool = True) -> str:
        state = self.world.state
        if fresh:
            state.take_overview()
        return "".join(self.exposition.chunks(state.overview, state.pods(), state.quotas()))

    def families(self) -> dict[str, list[dict[str, str]]]:
        found = text_string_to_metric_families(self.text())
        return {family.name: [sample.labels for sample in family.samples] for family in found}

    def lines(self, name: str) -> list[str]:
        return [line for line in self.text().splitlines() if line.startswith(name + "{")]


@pytest.fixture
def scrapes() -> Scrapes:
    return Scrapes()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"), (1, "1"), (12.5, "12.5"), (-3, "-3"), (999999, "999999"), (1e6, "1e+06"),
        (17179869184, "1.7179869184e+10"), (1048576, "1.048576e+06"), (0.0001, "0.0001"),
        (0.00001, "1e-05"), (1 / 3, "0.3333333333333333"), (8388608000, "8.388608e+09"), (1e21, "1e+21"),
    ],
)  # fmt: skip
def test_numbers_are_printed_as_go_prints_them(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(("text", "escaped"), [('a"b', 'a\\"b'), ("a\\b", "a\\\\b"), ("a\nb", "a\\nb")])
def test_label_values_are_escaped(text: str, escaped: str) -> None:
    assert escape(text) == escaped
    line = sample(MEM_LIMIT, (escape(text), "u", "0", "t"), 1)
    (family,) = text_string_to_metric_families(line)
    assert family.samples[0].labels["node"] == text


def test_m06_a_card_s_families(scrapes: Scrapes) -> None:
    """10.1: complete on the first scrape after registration."""
    scrapes.world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    text = scrapes.text()
    with_cores = f'device_cores="100",{CARD}'
    for line in (
        f"hami_gpu_memory_limit_bytes{{{CARD}}} {number(1000 * MIB)}",
        f"hami_gpu_core_limit_ratio{{{CARD}}} 100",
        f"hami_gpu_memory_allocated_bytes{{{with_cores}}} {number(100 * MIB)}",
        f"hami_gpu_shared_count{{{CARD}}} 1",
        f"hami_gpu_core_allocated_ratio{{{CARD}}} 10",
        f"hami_node_gpu_memory_allocated_ratio{{{CARD}}} 0.1",
        'hami_node_gpu_overview{device_cores="100",device_index="0",device_memory_limit="1000",'
        f'device_type="Plain-1",device_uuid="a",node="n1",zone="vGPU"}} {number(100 * MIB)}',
    ):
        assert line + "\n" in text


def test_a_pod_s_families(scrapes: Scrapes) -> None:
    """10.3, Q-34: effective devices, so that the index is always 0."""
    scrapes.world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    labels = 'container_index="0",device_uuid="a",namespace="default",node="n1",pod="p",zone="vGPU"'
    assert scrapes.lines("hami_vgpu_memory_allocated_bytes") == [
        f"hami_vgpu_memory_allocated_bytes{{{labels}}} {number(100 * MIB)}"
    ]
    assert scrapes.lines("hami_vgpu_core_allocated_ratio") == [
        f"hami_vgpu_core_allocated_ratio{{{labels}}} 10"
    ]


def test_quotas_are_always_current(scrapes: Scrapes) -> None:
    """10.2: the limit's own family only where a limit is set."""
    scrapes.world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    scrapes.world.state.see_quota(ResourceQuota("default", "q", {f"limits.{MEM}": "500"}))
    assert scrapes.lines("hami_resource_quota_used") == [
        'hami_resource_quota_used{limit="0",namespace="default",quota_name="plain.io/cores",zone="vGPU"} 10',
        'hami_resource_quota_used{limit="500",namespace="default",quota_name="plain.io/mem",zone="vGPU"} 100',
    ]
    assert scrapes.lines("hami_resource_quota_limit") == [
        'hami_resource_quota_limit{namespace="default",quota_name="plain.io/mem",zone="vGPU"} 500'
    ]


def test_series_of_gone_objects_vanish(scrapes: Scrapes) -> None:
    scrapes.world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    assert 'pod="p"' in scrapes.text()
    scrapes.world.state.lose_pod(pod_of().uid)
    scrapes.world.state.drop_node(NodeName("n1"))
    text = scrapes.text()
    assert 'pod="p"' not in text
    assert 'node="n1"' not in text
    assert "hami_gpu_memory_limit_bytes" not in text
    assert scrapes.exposition._kept == {}


def test_a_card_that_is_replaced_leaves_no_series(scrapes: Scrapes) -> None:
    scrapes.text()
    scrapes.world.register(registered("n1", "z"))
    assert [labels["device_uuid"] for labels in scrapes.families()["hami_gpu_shared_count"]] == ["z"]


def test_node_families_show_the_overview_and_nothing_newer(scrapes: Scrapes) -> None:
    """X-2, R-18."""
    before = scrapes.text()
    scrapes.world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    after = scrapes.text(fresh=False)
    shared = re.compile(r"hami_gpu_shared_count\{.*")
    assert shared.findall(before) == shared.findall(after)


def test_unchanged_nodes_are_not_printed_again(scrapes: Scrapes) -> None:
    """The ratchet of a scrape: the text of a node is made once for each of its versions."""
    scrapes.text()
    kept = scrapes.exposition._kept[NodeName("n1")]
    scrapes.text()
    assert scrapes.exposition._kept[NodeName("n1")] is kept
    scrapes.world.filter(pod_of(asking()))
    scrapes.text()
    assert scrapes.exposition._kept[NodeName("n1")] is not kept


def test_m03_a_card_without_memory_has_no_ratio(scrapes: Scrapes) -> None:
    scrapes.world.register(registered("n1", "a", mem_mib=0))
    assert scrapes.lines("hami_node_gpu_memory_allocated_ratio") == []
    assert "NaN" not in scrapes.text()


def test_x_1_a_family_without_samples_is_absent() -> None:
    scrapes = Scrapes()
    scrapes.world.state.drop_node(NodeName("n1"))
    assert list(scrapes.families()) == ["hami_build_info"]


def test_x_3_the_build_is_the_only_family_without_a_zone(scrapes: Scrapes) -> None:
    families = scrapes.families()
    assert set(families.pop("hami_build_info")[0]) == {
        "version", "revision", "build_date", "go_version", "compiler", "platform",
    }  # fmt: skip
    assert all(labels["zone"] == "vGPU" for samples in families.values() for labels in samples)


def test_every_family_has_help_and_is_a_gauge(scrapes: Scrapes) -> None:
    text = scrapes.text()
    names = set(re.findall(r"^(\w+)\{", text, re.MULTILINE))
    assert names == set(re.findall(r"^# HELP (\w+) ", text, re.MULTILINE))
    assert names == set(re.findall(r"^# TYPE (\w+) gauge$", text, re.MULTILINE))


def test_legacy_families_are_shown_on_request_only() -> None:
    """10.4."""
    pod = holding(pod_of(), "n1", "a,Plain,100,10:;")
    plain, legacy = Scrapes(), Scrapes(legacy=True)
    for scrapes in (plain, legacy):
        scrapes.world.state.see_pod(pod)
    old = {
        "GPUDeviceMemoryLimit", "GPUDeviceCoreLimit", "GPUDeviceMemoryAllocated", "GPUDeviceSharedNum",
        "GPUDeviceCoreAllocated", "nodeGPUOverview", "nodeGPUMemoryPercentage", "QuotaUsed",
        "vGPUMemoryAllocated", "vGPUCoreAllocated",
    }  # fmt: skip
    assert set(legacy.families()) - set(plain.families()) == old
    (labels,) = legacy.families()["nodeGPUMemoryPercentage"]
    assert set(labels) == {"nodeid", "deviceuuid", "deviceidx", "zone"}


def test_u15_realized_instances_are_told_with_identity_and_place() -> None:
    """10.1, M-22: only instances the node has made, only on cards that are cut."""
    scrapes = Scrapes(legacy=True)
    made = SliceInUse("1g.5gb", Placement(2, 1), "MIG-1", 7, 0)
    asked = SliceInUse("1g.5gb", Placement(3, 1))
    scrapes.world.state.take_overview()
    usage = scrapes.world.state.overview[NodeName("n1")]
    card = replace(usage.cards[0], slices=(made, asked))
    for mode, count in (("mig", 1), ("hami-core", 0)):
        cut = replace(card, card=replace(card.card, mode=mode))
        overview = {NodeName("n1"): replace(usage, cards=(cut,), version=usage.version + count + 1)}
        text = "".join(scrapes.exposition.chunks(overview, (), {}))
        assert text.count("hami_node_gpu_mig_instance_info{") == count
        assert text.count('migname="1g.5gb-7"') == count
        if count:
            assert 'gpu_instance_id="7"' in text
            assert 'placement_start="2"' in text


@pytest.mark.parametrize(("cores", "used", "shown"), [(64, 32, 50), (304, 1, 1), (100, 100, 100)])
def test_m07_amd_cores_become_percent_rounded_up(cores: int, used: int, shown: int) -> None:
    """X-4."""
    (backend,) = AMD.build(AMD.config())
    card = Card(CardId("x"), backend.vendor_key, "AMD-MI300X", 0, 1, 1000, cores)
    scrapes = Scrapes()
    exposition = Exposition(backends={backend.vendor_key: backend}, legacy=False)
    scrapes.world.state.merge_node(make_node("n1"), {VENDOR: (card,)})
    scrapes.world.state.take_overview()
    usage = scrapes.world.state.overview[NodeName("n1")]
    taken = replace(usage, cards=tuple(replace(item, cores_used=used) for item in usage.cards))
    text = "".join(exposition.chunks({NodeName("n1"): taken}, (), {}))
    assert re.search(r"hami_gpu_core_limit_ratio\{.*\} 100\n", text)
    assert re.search(rf"hami_gpu_core_allocated_ratio\{{.*\}} {shown}\n", text)


def test_a_pod_on_an_unknown_card_is_shown_raw(scrapes: Scrapes) -> None:
    """10.3, F11: it stays visible."""
    scrapes.world.state.see_pod(holding(pod_of(), "n1", "gone,Plain,100,10:;"))
    (line,) = scrapes.lines("hami_vgpu_core_allocated_ratio")
    assert line.endswith(" 10")


def test_w10_an_empty_card_id_is_skipped(scrapes: Scrapes) -> None:
    scrapes.world.state.see_pod(holding(pod_of(), "n1", ",Plain,100,10:;"))
    assert scrapes.lines("hami_vgpu_memory_allocated_bytes") == []


def test_m02_allocating_and_freeing_keeps_the_number_of_series(scrapes: Scrapes) -> None:
    def series() -> int:
        return sum(len(samples) for samples in scrapes.families().values())

    scrapes.world.state.see_quota(ResourceQuota("default", "q", {f"limits.{MEM}": "500"}))
    before = series()
    for number_ in range(5):
        held = holding(pod_of(name=f"p{number_}"), "n1", "a,Plain,10,1:;")
        scrapes.world.state.see_pod(held)
        scrapes.text()
        scrapes.world.state.lose_pod(held.uid)
    assert series() <= before + 1  # the cores' entry of the namespace stays, with 0 (M-30)
