"""The device configuration as the reference reads it (CFG-5 to 7, DCF-4 to 16, cases DCF-E01 to E10)."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from scheduler_app import conf, deviceconfig, vendortable, yamlfields
from scheduler_app.core.errors import ConfigError
from scheduler_app.deviceconfig import DeviceConfig
from scheduler_app.devices import vendors

BOTH = {"enable-ascend": True, "enable-iluvatar": True}
FIXED = [
    "NVIDIA", "MLU", "DCU", "GCU", "Enflame", "Mthreads", "Metax-GPU", "Metax-SGPU", "kunlun", "XPU",
    "AWSNeuron", "AMD", "Vastai", "Biren",
]  # fmt: skip
OPTIONAL = [
    "Ascend910A", "Ascend910B2", "Ascend910B3", "Ascend910B4-1", "Ascend910B4", "Ascend310P", "Ascend910C",
    "MR-V100", "MR-V50", "BI-V150", "BI-V100",
]  # fmt: skip


def load(text: str, flags: Mapping[str, Any] | None = None) -> DeviceConfig:
    return deviceconfig.load(text, flags or {})


def keys(config: DeviceConfig) -> list[str]:
    return [str(backend.vendor_key) for backend in config.order]


def field(section: str, text: str, name: str) -> Any:
    """Return one field of a section as it is read."""
    vendor = next(vendor for vendor in vendors() if vendor.config_key == section)
    root = yamlfields.compose(f"{section}: {{{text}}}")
    assert root is not None
    ((_, node),) = yamlfields.entries(root, "the file")
    return getattr(yamlfields.FieldReader().record(vendor.config, node, section), name)


@pytest.mark.parametrize(
    "text",
    [
        "", "# nothing\n", "null", "nonsense: {a: 1}", "nvidia:", "metax: {sgpuTopologyAware: false}",
        "iluvatars: []", "vnpus: {hamiVnpuCore: true, configs: []}", "Metax: {resourceCountName: a/b}",
    ],
)  # fmt: skip
def test_dcf_e01_a_configuration_that_sets_nothing_is_refused(text: str) -> None:
    """CFG-6."""
    with pytest.raises(ConfigError, match=r"^all configurations are empty$"):
        load(text)


@pytest.mark.parametrize(
    "text",
    [
        "metax: {sgpuTopologyAware: true}",
        "enflame: {resourceNameVGCU: a/b}",
        "vnpus: {configs: [{commonWord: X}]}",
        "iluvatars: [{commonWord: Q}]",
    ],
)
def test_dcf_e02_any_value_creates_all_fixed_backends(text: str) -> None:
    """DCF-12, DCF-15."""
    assert keys(load(text)) == FIXED


@pytest.mark.parametrize("section", ["vastai", "biren", "amd", "kunlun", "awsneuron", "hygon"])
def test_w20_one_rare_vendor_is_configuration_enough(section: str) -> None:
    assert keys(load(f"{section}: {{resourceCountName: a.io/b}}")) == FIXED


def test_dcf_e03_the_chart_s_text_creates_backends_in_the_reference_s_order() -> None:
    """CFG-7."""
    text = vendortable.CONFIG.read_text("utf-8")
    assert keys(load(text)) == FIXED
    assert keys(load(text, BOTH)) == FIXED + OPTIONAL
    assert list(load(text, BOTH).backends) == sorted(FIXED + OPTIONAL)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("vnpus: [{commonWord: X}]", 1),
        ("nvidia: {}\nmetax: hello", 2),
        ("metax: [a]", 1),
        ("- a\n- b", 1),
        ("just text", 1),
        ("nvidia:\n\tresourceCountName: a", 2),
        ("nvidia: {resourceCountName: [a]}", 1),
        ("nvidia:\n  defaultMemory: {a: 1}", 2),
        ("iluvatars: [text]", 1),
        ("iluvatars: {commonWord: Q}", 1),
    ],
)
def test_dcf_e05_a_wrong_shape_is_told_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ConfigError, match=f"line {line}"):
        load(text)


@pytest.mark.parametrize("text", ["yes", "Yes", "y", "on", "TRUE", "true"])
def test_dcf_e06_words_for_true(text: str) -> None:
    assert field("metax", f"sgpuTopologyAware: {text}", "sgpu_topology_aware") is True


@pytest.mark.parametrize("text", ["no", "N", "off", "False", "null", "~", ""])
def test_dcf_e06_words_for_false(text: str) -> None:
    assert field("metax", f"sgpuTopologyAware: {text}", "sgpu_topology_aware") is False


@pytest.mark.parametrize("text", ["'true'", "1", "0", "tRue", "nO", "[]"])
def test_dcf_e06_what_is_no_word_is_an_error_that_names_the_key(text: str) -> None:
    with pytest.raises(ConfigError, match=r"line 1: metax.sgpuTopologyAware: expected true or false"):
        field("metax", f"sgpuTopologyAware: {text}", "sgpu_topology_aware")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", 8), ("08", 8), ("1.9", 1), ("-1.9", -1), ("1e3", 1000), (".5", 0), ("0x10", 16), ("0b11", 3),
        ("0o17", 15), ("1_000", 1000), ("+5", 5), ("null", 0), ("2147483647", 2147483647),
    ],
)  # fmt: skip
def test_dcf_e07_integers(text: str, value: int) -> None:
    """DCF-4."""
    assert field("nvidia", f"defaultMemory: {text}", "default_memory") == value


@pytest.mark.parametrize("text", ["2147483648", "'5'", "true", "1:30", "five", "1e30", "1e999", ".inf", "0x"])
def test_dcf_e07_what_is_no_integer_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match=r"line 1: nvidia.defaultMemory: expected a whole number"):
        field("nvidia", f"defaultMemory: {text}", "default_memory")


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("null", None), ("7", 7)])
def test_dcf_e08_an_optional_number_may_be_unset(text: str, value: int | None) -> None:
    assert field("nvidia", f"deviceSplitCount: {text}", "device_split_count") == value


def test_dcf_e08_an_unsigned_number_is_not_negative() -> None:
    with pytest.raises(ConfigError, match="deviceSplitCount"):
        load("nvidia: {deviceSplitCount: -1}")


def test_dcf_e08_a_number_that_is_present_counts_even_when_zero() -> None:
    """DCF-12."""
    assert keys(load("nvidia: {deviceSplitCount: 0}")) == FIXED


@pytest.mark.parametrize(
    ("text", "value"), [("2", 2.0), ("2.5", 2.5), (".inf", float("inf")), ("null", None)]
)
def test_optional_floats(text: str, value: float | None) -> None:
    assert field("nvidia", f"deviceMemoryScaling: {text}", "device_memory_scaling") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.0", "1.0"),
        ("0x10", "0x10"),
        ("true", "true"),
        ("2001-01-01", "2001-01-01"),
        ("'null'", "null"),
        ("~", ""),
    ],
)
def test_a_text_keeps_its_source(text: str, value: str) -> None:
    """DCF-4: a stock loader changes these."""
    assert field("nvidia", f"resourceCountName: {text}", "resource_count_name") == value


def names(text: str) -> tuple[str, str]:
    found = load(text).backends["Metax-GPU"].names  # type: ignore[index]  # a VendorKey
    return found.count, load(text).backends["Metax-SGPU"].names.count  # type: ignore[index]  # a VendorKey


def test_dcf_e09_a_repeated_section_is_merged_and_the_later_value_wins() -> None:
    text = "metax: {resourceCountName: a/1, resourceVCountName: b/1}\nmetax: {resourceCountName: a/2}"
    assert names(text) == ("a/2", "b/1")


def test_dcf_e09_a_later_null_clears_the_section() -> None:
    with pytest.raises(ConfigError, match="empty"):
        load("metax: {resourceCountName: a/1}\nmetax:")


def test_anchors_and_merge_keys_work() -> None:
    text = "biren: &b {resourceCountName: x/y}\nvastai: {<<: *b}"
    assert {load(text).backends[key].names.count for key in ("Biren", "Vastai")} == {"x/y"}  # type: ignore[index]  # VendorKeys


def test_only_the_first_document_is_read() -> None:
    assert load("biren: {resourceCountName: x/y}\n---\nbiren: [broken]\n").unknown == ()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{models: [A30], profiles: []}", "MIG profile allowlist must define models and profiles"),
        ("{models: [A30], profiles: [1g]}", 'invalid MIG profile "1g"'),
        ("{models: [A30], profiles: [g.6gb]}", 'invalid MIG profile "g.6gb"'),
        ("{models: [A30], profiles: [1c.6gb]}", 'invalid MIG profile "1c.6gb"'),
    ],
)
def test_dcf_e10_a_wrong_allowlist_aborts(rule: str, message: str) -> None:
    """DCF-13."""
    with pytest.raises(ConfigError) as caught:
        load(f"nvidia: {{migProfileAllowlist: [{rule}]}}")
    assert str(caught.value).endswith(f"invalid MIG profile allowlist: {message}")


def test_dcf_e10_the_shortest_profile_is_valid() -> None:
    load("nvidia: {migProfileAllowlist: [{models: [A30], profiles: [1g.]}]}")


def test_unknown_keys_are_told_with_line_and_valid_keys() -> None:
    """Architecture, section 7: a warning, not an error."""
    config = load("nvidia:\n  resourceCountName: a/b\n  resourceCuontName: c/d\nnvdia: {}\n")
    first, second = map(str, config.unknown)
    assert first.startswith("line 3: unknown key nvidia.resourceCuontName; valid keys are ")
    assert "resourceCountName" in first
    assert second.startswith("line 4: unknown key nvdia; valid keys are amd, ")


@pytest.mark.parametrize(
    "text", ["a: [", "a: {b", "\x00", "a: !!python/object/apply:os.system [ls]", "*x", "&a [*a]"]
)
def test_hostile_yaml_is_refused_or_ignored_and_never_run(text: str) -> None:
    """The safe loader's nodes are read, nothing is constructed."""
    with pytest.raises(ConfigError):
        load(text)


def test_an_alias_bomb_costs_nothing() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(ConfigError, match="empty"):
        load("\n".join(lines))


@pytest.mark.usefixtures("unset")
class TestFile:
    """CFG-6, DCF-1, DCF-2: the file itself."""

    def read(self, path: Path | str) -> DeviceConfig:
        conf.set_flags(device_config_file=str(path), DEVICE_CONFIG_TEXT="")
        return conf.device_config()

    def test_it_is_mandatory(self) -> None:
        """DCF-2: no path is a file that cannot be read."""
        with pytest.raises(ConfigError, match="--device-config-file is not given"):
            self.read("")

    def test_one_that_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        """DCF-2."""
        for path in (tmp_path / "nowhere.yaml", tmp_path):
            with pytest.raises(ConfigError, match=f"Failed to load device config file {path}"):
                self.read(path)

    def test_one_that_is_no_text_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "config.yaml"
        path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ConfigError, match="Failed to load device config file"):
            self.read(path)

    def test_one_that_does_not_decode_is_named(self, tmp_path: Path) -> None:
        """DCF-2."""
        path = tmp_path / "config.yaml"
        path.write_text("metax: hello", encoding="utf-8")
        with pytest.raises(ConfigError, match=f"^Failed to load device config file {path}: line 1: metax: "):
            self.read(path)

    def test_one_that_sets_nothing_is_told_in_other_words(self, tmp_path: Path) -> None:
        """DCF-2, DCF-12."""
        path = tmp_path / "config.yaml"
        path.write_text("metax: {sgpuTopologyAware: false}", encoding="utf-8")
        with pytest.raises(
            ConfigError, match=r"^Failed to initialize devices: all configurations are empty$"
        ):
            self.read(path)

    def test_flags_enable_the_optional_vendors(self) -> None:
        conf.set_flags(enable_ascend=True)
        assert keys(self.read(vendortable.CONFIG)) == FIXED + OPTIONAL[:7]


def test_the_command_checks_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("biren: {resourceCountName: x/y, extra: 1}\n", encoding="utf-8")
    call_command("devices", "--check", str(path))
    out = capsys.readouterr()
    assert "valid, 14 backends" in out.out
    assert "unknown key biren.extra" in out.err


def test_a_repeated_backend_key_replaces_the_earlier_one() -> None:
    """DCF-16."""
    text = "iluvatars: [{commonWord: Q, resourceCountName: a/1}, {commonWord: Q, resourceCountName: a/2}]"
    config = load(text, BOTH)
    assert config.backends["Q"].names.count == "a/2"  # type: ignore[index]  # a VendorKey
    assert keys(config)[-2:] == ["Q", "Q"]


def test_nothing_of_the_configuration_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        load("biren: {resourceCountName: secret/y}")
    assert "secret" not in caplog.text
