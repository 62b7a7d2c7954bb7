"""Every flag of the reference is taken as its chart and people spell it (CFG-1 to CFG-3)."""

import argparse
from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command, load_command_class
from django.core.management.base import CommandError

from scheduler_app import flags
from scheduler_app.devices import vendors

REFERENCE = {
    "http_bind": "127.0.0.1:8080", "cert_file": "", "key_file": "", "scheduler-name": "",
    "node-scheduler-policy": "binpack", "gpu-scheduler-policy": "spread", "metrics-bind-address": ":9395",
    "node-label-selector": {}, "kube-qps": 5.0, "kube-burst": 10, "kube-timeout": 0, "profiling": False,
    "node-lock-timeout": 300.0, "node-lock-retry-timeout": 28.0, "force-overwrite-default-scheduler": True,
    "leader-elect": False, "leader-elect-resource-name": "", "leader-elect-resource-namespace": "",
    "legacy-metrics": False, "debug": False, "device-config-file": "",
}  # fmt: skip
OF_VENDORS = {
    "enable-ascend": False, "enable-iluvatar": False, "cambricon-mlu-name": "cambricon.com/mlu",
    "cambricon-mlu-memory": "cambricon.com/mlu.smlu.vmemory",
    "cambricon-mlu-cores": "cambricon.com/mlu.smlu.vcore", "dcu-name": "hygon.com/dcunum",
    "dcu-memory": "hygon.com/dcumem", "dcu-cores": "hygon.com/dcucores", "mthreads-name": "mthreads.com/vgpu",
    "mthreads-memory": "mthreads.com/sgpu-memory", "mthreads-cores": "mthreads.com/sgpu-core",
    "metax-name": "metax-tech.com/gpu", "metax-vcount": "metax-tech.com/sgpu",
    "metax-vcore": "metax-tech.com/vcore", "metax-vmemory": "metax-tech.com/vmemory",
    "sgpu-topology-aware": False, "kunlun-name": "kunlunxin.com/xpu", "kunlun-vcount": "kunlunxin.com/vxpu",
    "kunlun-vmemory": "kunlunxin.com/vxpu-memory", "enflame-gcu-resource-name": "enflame.com/gcu",
    "enflame-drs-gcu-resource-name": "enflame.com/drs-gcu",
    "enflame-vgcu-resource-name": "enflame.com/drs-gcu",
    "enflame-gcu-memory-resource-name": "enflame.com/gcu-memory",
    "enflame-gcu-core-resource-name": "enflame.com/gcu-core",
    "enflame-vgcu-legacy-resource-name": "enflame.com/vgcu",
    "enflame-vgcu-percentage-resource-name": "enflame.com/vgcu-percentage",
}  # fmt: skip
LOG_FLAGS = (
    "vmodule", "logtostderr", "alsologtostderr", "alsologtostderrthreshold", "stderrthreshold",
    "legacy_stderr_threshold_behavior", "log_dir", "log_file", "log_file_max_size", "log_backtrace_at",
    "add_dir_header", "skip_headers", "skip_log_headers", "one_output",
)  # fmt: skip


def parse(*given: str) -> dict[str, Any]:
    """Return the options of ``runscheduler`` with these arguments; CommandError as the command raises it."""
    parser = load_command_class("scheduler_app", "runscheduler").create_parser("manage.py", "runscheduler")
    parser.called_from_command_line = False
    return vars(parser.parse_args(list(given)))


@pytest.mark.parametrize(("name", "default"), [*REFERENCE.items(), *OF_VENDORS.items()])
def test_each_flag_of_the_reference_has_its_default(name: str, default: object) -> None:
    """CFG-1, CFG-2."""
    found = parse()[name.replace("-", "_")]
    assert found == default
    assert type(found) is type(default)


@pytest.mark.parametrize(
    "name", [name for name, default in (REFERENCE | OF_VENDORS).items() if default == ""]
)
def test_texts_are_given_with_a_blank_or_an_equals_sign(name: str) -> None:
    dest = name.replace("-", "_")
    assert parse(f"--{name}", "x")[dest] == parse(f"--{name}=x")[dest] == "x"


@pytest.mark.parametrize(
    "name", [name for name, default in (REFERENCE | OF_VENDORS).items() if isinstance(default, bool)]
)
def test_booleans_are_given_bare_or_with_an_equals_sign(name: str) -> None:
    dest = name.replace("-", "_")
    assert parse(f"--{name}")[dest] is True
    for text, value in (
        ("true", True),
        ("T", True),
        ("1", True),
        ("false", False),
        ("F", False),
        ("0", False),
    ):
        assert parse(f"--{name}={text}")[dest] is value


@pytest.mark.parametrize("name", LOG_FLAGS)
def test_log_flags_are_accepted(name: str) -> None:
    """CFG-3."""
    value = "1" if name in ("log_file_max_size", "stderrthreshold", "alsologtostderrthreshold") else "true"
    parse(f"--{name}={value}")


@pytest.mark.parametrize("given", [["-v", "4"], ["-v=4"], ["-v4"], ["--debug", "-v=4"]])
def test_verbosity_is_one_letter(given: Sequence[str]) -> None:
    """CFG-1, CFG-3: the chart passes ``--debug -v=4``."""
    assert parse(*given)["v"] == 4


@pytest.mark.parametrize(
    ("text", "seconds"), [("5m", 300), ("28s", 28), ("300ms", 0.3), ("1h30m", 5400), ("0", 0), ("-1s", -1)]
)
def test_durations_are_go_s(text: str, seconds: float) -> None:
    assert parse(f"--node-lock-timeout={text}")["node_lock_timeout"] == seconds


def test_the_selector_reads_pairs_and_repeated_flags_merge() -> None:
    """CFG-1."""
    given = ["--node-label-selector=a=1,b=2", "--node-label-selector", "b=3,c="]
    assert parse(*given)["node_label_selector"] == {"a": "1", "b": "3", "c": ""}
    assert parse()["node_label_selector"] == {}


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ("--nonsense", "nonsense"),
        ("--leader", "leader"),
        ("--scheduler-nam=x", "scheduler-nam"),
        ("--leader-elect=maybe", "boolean"),
        ("--kube-burst=many", "kube-burst"),
        ("--kube-qps=fast", "kube-qps"),
        ("--node-lock-timeout=5", "node-lock-timeout"),
        ("--node-lock-timeout=soon", "node-lock-timeout"),
        ("--node-label-selector=a", "key=value"),
        ("--http_bind=localhost", "host:port"),
        ("--http_bind=:99999", "host:port"),
    ],
)
def test_what_is_wrong_is_named(given: str, word: str) -> None:
    """CFG-1: unknown flags make the process fail, also abbreviated ones."""
    with pytest.raises((CommandError, SystemExit, argparse.ArgumentError)) as caught:
        parse(given)
    if isinstance(caught.value, CommandError):
        assert word in str(caught.value)


def test_each_flag_is_logged_at_start() -> None:
    """CFG-1."""
    lines = flags.lines(parse("--scheduler-name=hami", "--debug", "--node-label-selector=a=1,b=2"))
    assert 'FLAG: --scheduler-name="hami"' in lines
    assert 'FLAG: --debug="true"' in lines
    assert 'FLAG: --node-label-selector="a=1,b=2"' in lines
    assert 'FLAG: --leader-elect="false"' in lines
    assert len(lines) == len(flags.specs())


def test_no_two_flags_share_a_name() -> None:
    names = [spec.dest for spec in flags.specs()]
    assert len(set(names)) == len(names)
    assert {flag.name for vendor in vendors() for flag in vendor.flags} <= {
        spec.name for spec in flags.specs()
    }


def test_version_prints_six_aligned_lines_and_ends() -> None:
    """CFG-1."""
    out = StringIO()
    call_command("runscheduler", "version", stdout=out)
    lines = out.getvalue().splitlines()
    names = ["version:", "revision:", "build date:", "go version:", "compiler:", "platform:"]
    assert [line[:18].strip() for line in lines] == names
    assert all(line[18] != " " for line in lines)
