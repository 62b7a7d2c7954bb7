"""The configuration we ship says what the reference's chart says (DCF-5, DCF-20 to DCF-23)."""

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_app import deviceconfig, vendortable, yamlfields
from scheduler_app.core.errors import ConfigError
from scheduler_app.devices import vendors
from tests.devices.machines import SHIPPED

TEXT = vendortable.CONFIG.read_text("utf-8")

NAMES = {  # count, memory, cores, factor
    "NVIDIA": ("nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores", 1),
    "MLU": ("cambricon.com/vmlu", "cambricon.com/mlu.smlu.vmemory", "cambricon.com/mlu.smlu.vcore", 256),
    "DCU": ("hygon.com/dcunum", "hygon.com/dcumem", "hygon.com/dcucores", 1),
    "Metax-SGPU": ("metax-tech.com/sgpu", "metax-tech.com/vmemory", "metax-tech.com/vcore", 1024),
    "MR-V100": ("iluvatar.ai/MR-V100-vgpu", "iluvatar.ai/MR-V100.vMem", "iluvatar.ai/MR-V100.vCore", 256),
    "MR-V50": ("iluvatar.ai/MR-V50-vgpu", "iluvatar.ai/MR-V50.vMem", "iluvatar.ai/MR-V50.vCore", 256),
    "BI-V150": ("iluvatar.ai/BI-V150-vgpu", "iluvatar.ai/BI-V150.vMem", "iluvatar.ai/BI-V150.vCore", 256),
    "BI-V100": ("iluvatar.ai/BI-V100-vgpu", "iluvatar.ai/BI-V100.vMem", "iluvatar.ai/BI-V100.vCore", 256),
    "Ascend910A": (
        "huawei.com/Ascend910A",
        "huawei.com/Ascend910A-memory",
        "huawei.com/Ascend910A-core",
        1,
    ),
    "Ascend910C": (
        "huawei.com/Ascend910C",
        "huawei.com/Ascend910C-memory",
        "huawei.com/Ascend910C-core",
        0,
    ),
}

CHIPS = {  # allocatable, capacity, factor, super pod, templates by memory
    "Ascend910A": (32768, 32768, 1, False, {"vir02": 2184, "vir04": 4369, "vir08": 8738, "vir16": 17476}),
    "Ascend910B2": (
        65536,
        65536,
        1,
        False,
        {"vir03_1c_8g": 8192, "vir06_1c_16g": 16384, "vir12_3c_32g": 32768},
    ),
    "Ascend910B3": (65536, 65536, 1, False, {"vir05_1c_16g": 16384, "vir10_3c_32g": 32768}),
    "Ascend910B4-1": (65536, 65536, 1, False, {"vir05_1c_16g": 16384, "vir10_3c_32g": 32768}),
    "Ascend910B4": (32768, 32768, 1, False, {"vir05_1c_8g": 8192, "vir10_3c_16g": 16384}),
    "Ascend310P": (21527, 24576, 1, False, {"vir01": 3072, "vir02": 6144, "vir04": 12288}),
    "Ascend910C": (65536, 65536, 0, True, {"vir05_1c_16g": 16384, "vir10_3c_32g": 32768}),
}

PROFILES = {
    "A30": "1g.6gb 2g.12gb 4g.24gb",
    "A100-PCIE-40GB": "1g.5gb 2g.10gb 3g.20gb 7g.40gb",
    "A100-SXM4-80GB": "1g.10gb 2g.20gb 3g.40gb 7g.79gb",
    "H100-SXM5-80GB": "1g.10gb 2g.20gb 3g.40gb 7g.80gb",
    "H100-PCIE-94GB": "1g.12gb 2g.24gb 3g.47gb 7g.94gb",
    "H100 on GH200": "1g.12gb 2g.24gb 3g.48gb 7g.96gb",
    "H200 NVL": "1g.18gb 2g.35gb 3g.71gb 7g.141gb",
    "B200": "1g.23gb 2g.45gb 3g.90gb 7g.180gb",
    "RTX PRO 6000 Blackwell Server Edition": "1g.24gb 2g.48gb 4g.96gb",
}


def section(key: str) -> Any:
    """Return a section of the shipped text as its vendor reads it."""
    vendor = next(vendor for vendor in vendors() if vendor.config_key == key)
    root = yamlfields.compose(TEXT)
    assert root is not None
    node = next(value for name, value in yamlfields.entries(root, "the file") if name == key)
    return yamlfields.FieldReader().record(vendor.config, node, key)


@pytest.mark.parametrize("key", sorted(NAMES))
def test_resources_are_called_as_the_chart_calls_them(key: str) -> None:
    """DCF-22, MLU-2, MLU-4, DCU-2, ILU-2, ILU-3, MXS-1, ASC-38: the factor is what one unit of memory is."""
    (backend,) = (backend for backend in SHIPPED.order if backend.vendor_key == key)
    names = backend.names
    assert (names.count, names.mem, names.cores, names.mem_factor) == NAMES[key]


def test_every_ascend_chip_of_the_chart_is_there() -> None:
    """ASC-2 to ASC-5, DCF-23: in this order, with these sizes."""
    config = section("vnpus")
    assert config.hami_vnpu_core is False
    assert [chip.common_word for chip in config.configs] == list(CHIPS)
    for chip in config.configs:
        sizes = {template.name: template.memory for template in chip.templates}
        memory = (chip.memory_allocatable, chip.memory_capacity, chip.memory_factor)
        assert (*memory, chip.super_pod, sizes) == CHIPS[chip.common_word]
        assert (chip.runtime_class_name, chip.overwrite_env) == ("", False)


def test_every_mig_profile_of_the_chart_is_allowed() -> None:
    """DCF-21."""
    rules = section("nvidia").mig_profile_allowlist
    found = {model: " ".join(rule.profiles) for rule in rules for model in rule.models}
    assert PROFILES.items() <= found.items()
    assert len(found) == 17


def test_what_only_node_plugins_read_is_known_to_us_too() -> None:
    """DCF-3: they read the same file, so that none of their keys may be called unknown."""
    assert SHIPPED.unknown == ()
    plugin = "deviceSplitCount: 5, deviceMemoryScaling: 2.5, libCudaLogLevel: 3, disableCoreLimit: true"
    found = deviceconfig.load(
        f"nvidia: {{{plugin}, preConfiguredDeviceMemory: 0, enableNumaTopology: on}}", {}
    )
    assert found.unknown == ()


def test_settings_of_single_nodes_are_the_plugins_business() -> None:
    """DCF-30: they stand in a file that the scheduler never reads; put into this one they earn a warning."""
    node = "nodeconfig: [{name: n1, operatingmode: mig, devicesplitcount: 5}]"
    found = deviceconfig.load(f"{TEXT}\n{node}\n", vendortable.all_enabled())
    assert [unknown.path for unknown in found.unknown] == ["nodeconfig"]
    assert [backend.names for backend in found.order] == [backend.names for backend in SHIPPED.order]


def test_a_file_of_the_operators_own_replaces_all_of_ours() -> None:
    """DCF-18: taken as it is; what it leaves out has no names, whatever the shipped text says (but ENF-2)."""
    found = deviceconfig.load("nvidia: {resourceCountName: my.org/gpu}", {})
    named = {str(backend.vendor_key): backend.resources for backend in found.order if backend.resources}
    named.pop("Enflame")
    assert named == {"NVIDIA": ("my.org/gpu",)}


@pytest.mark.parametrize("text", ["vnpus: [{commonWord: Ascend910A}]", "vnpus: text"])
def test_the_old_layout_of_ascend_chips_stops_the_start(text: str) -> None:
    """ASC-2: a bare list; the message names the line."""
    with pytest.raises(ConfigError, match="vnpus") as told:
        deviceconfig.load(text, {"enable-ascend": True})
    assert "line 1" in str(told.value)


def test_pairs_of_chips_are_no_key_any_more() -> None:
    """ASC-3, VB-29: an old key is told, and ignored."""
    found = deviceconfig.load(
        "vnpus: {configs: [{commonWord: X, topologyPairs: [a]}]}", {"enable-ascend": True}
    )
    assert [unknown.path for unknown in found.unknown] == ["vnpus.configs[0].topologyPairs"]
    assert "X" in found.backends


RENAMED: Mapping[str, str] = {
    "cambricon-mlu-name": "MLU",
    "cambricon-mlu-memory": "MLU",
    "cambricon-mlu-cores": "MLU",
    "dcu-name": "DCU",
    "dcu-memory": "DCU",
    "dcu-cores": "DCU",
}


@pytest.mark.parametrize("flag", sorted(RENAMED))
def test_flags_do_not_rename_resources(flag: str) -> None:
    """MLU-3, DCU-3, DCF-8: accepted, and the section decides; without it there are no names."""
    key = RENAMED[flag]
    written = deviceconfig.load(TEXT, {flag: "a.io/b"})
    (backend,) = (backend for backend in written.order if backend.vendor_key == key)
    assert (backend.names.count, backend.names.mem, backend.names.cores) == NAMES[key][:3]
    bare = deviceconfig.load("amd: {resourceCountName: amd.com/gpu}", {flag: "a.io/b"})
    (backend,) = (backend for backend in bare.order if backend.vendor_key == key)
    assert (backend.names.count, backend.names.mem, backend.names.cores) == ("", "", "")


def test_only_flags_switch_the_optional_vendors_on() -> None:
    """DCF-19, VB-30, ASC-1, ILU-1."""
    plain = {str(backend.vendor_key) for backend in deviceconfig.load(TEXT, {}).order}
    assert not any(key.startswith(("Ascend", "MR-", "BI-")) for key in plain)
    both = {str(backend.vendor_key) for backend in SHIPPED.order}
    assert both - plain == {*CHIPS, "MR-V100", "MR-V50", "BI-V150", "BI-V100"}
