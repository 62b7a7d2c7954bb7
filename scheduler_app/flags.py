"""Every flag of ``manage.py runscheduler``: the reference's own (CFG-1 to CFG-3), the vendors', and ours."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_app.core import duration
from scheduler_app.core import text as texts
from scheduler_app.devices import vendors


@dataclass(frozen=True, slots=True)
class FlagSpec:
    """One flag. ``kind`` reads its text and raises ``ValueError``; booleans may be given bare."""

    name: str
    default: Any
    help: str
    kind: Callable[[str], Any] = str
    ours: bool = False

    @property
    def dest(self) -> str:
        return self.name.replace("-", "_")

    @property
    def is_boolean(self) -> bool:
        return isinstance(self.default, bool)


def boolean(text: str) -> bool:
    value = texts.boolean(text)
    if value is None:
        raise ValueError(f"invalid boolean {texts.quote(text)}: expected true or false")
    return value


def pairs(text: str) -> Mapping[str, str]:
    """Read ``"key=value,key2=value2"``."""
    found = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{texts.quote(part)}: expected key=value")
        found[key.strip()] = value.strip()
    return found


def address(text: str) -> str:
    """Read ``"host:port"``; the host may be empty or a bracketed IPv6 address."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{texts.quote(text)}: expected host:port")
    return f"{host}:{int(port)}"


_SCHEDULER = (
    FlagSpec("http_bind", "127.0.0.1:8080", "listen address of the extender and the webhook", address),
    FlagSpec("cert_file", "", "TLS certificate; TLS is used when both files are given"),
    FlagSpec("key_file", "", "TLS key"),
    FlagSpec("scheduler-name", "", "name that the webhook gives to pods; source of Events"),
    FlagSpec("node-scheduler-policy", "binpack", "default node policy: binpack or spread"),
    FlagSpec("gpu-scheduler-policy", "spread", "default device policy, or a comma-separated chain"),
    FlagSpec("metrics-bind-address", ":9395", "listen address of /metrics", address),
    FlagSpec("node-label-selector", {}, "only nodes with these labels are registered", pairs),
    FlagSpec(
        "kube-qps", 5.0, "background writes a second (0: 5); filter and bind are never throttled", float
    ),
    FlagSpec("kube-burst", 10, "background writes at once (0: 10)", int),
    FlagSpec("kube-timeout", 0, "seconds one API call may take (0: no limit of its own)", int),
    FlagSpec(
        "profiling", False, "serve /debug/pprof/ on the extender's door: where all threads are", boolean
    ),
    FlagSpec("node-lock-timeout", 300.0, "age at which a node lock is taken over", duration.parse_seconds),
    FlagSpec(
        "node-lock-retry-timeout", 28.0, "how long a pod group's bind retries a lock", duration.parse_seconds
    ),
    FlagSpec("force-overwrite-default-scheduler", True, "take over pods of default-scheduler", boolean),
    FlagSpec("leader-elect", False, "observe a Lease to know who leads", boolean),
    FlagSpec("leader-elect-resource-name", "", "name of the Lease"),
    FlagSpec("leader-elect-resource-namespace", "", "namespace of the Lease"),
    FlagSpec("legacy-metrics", False, "also show the metric families under their old names", boolean),
    FlagSpec("debug", False, "accepted, has no effect", boolean),
    FlagSpec("device-config-file", "", "the device configuration (YAML)"),
)
_OURS = (
    FlagSpec("console-bind", "127.0.0.1:8000", "listen address of the console", address, ours=True),
    FlagSpec(
        "bind-wait",
        25.0,
        "how long a bind waits its turn on a node (0: never)",
        duration.parse_seconds,
        ours=True,
    ),
    FlagSpec("quota-all-vendors", False, "check quota in every vendor's fit", boolean, ours=True),
)
_TEXTS = (
    "vmodule",
    "log_dir",
    "log_file",
    "log_backtrace_at",
    "log_file_max_size",
    "stderrthreshold",
    "alsologtostderrthreshold",
)
_SWITCHES = (
    "logtostderr",
    "alsologtostderr",
    "legacy_stderr_threshold_behavior",
    "add_dir_header",
    "skip_headers",
    "skip_log_headers",
    "one_output",
)
_LOGGING = (
    FlagSpec("v", 0, "log verbosity; 4 and more also logs debug lines", int),
    *(FlagSpec(name, "", "accepted, has no effect") for name in _TEXTS),
    *(FlagSpec(name, False, "accepted, has no effect", boolean) for name in _SWITCHES),
)


def _of_vendors() -> Iterator[FlagSpec]:
    for vendor in vendors():
        for flag in vendor.flags:
            kind: Callable[[str], Any] = boolean if isinstance(flag.default, bool) else str
            yield FlagSpec(flag.name, flag.default, flag.help, kind)


def specs() -> tuple[FlagSpec, ...]:
    return (*_SCHEDULER, *_of_vendors(), *_OURS, *_LOGGING)


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add every flag in GNU style: ``--name=value``, ``--name value``, and ``-v N`` (CFG-1)."""
    parser.allow_abbrev = False  # an unknown flag is an error, not another one's beginning
    for spec in specs():
        option = f"-{spec.name}" if len(spec.name) == 1 else f"--{spec.name}"
        more: dict[str, Any] = {"nargs": "?", "const": True} if spec.is_boolean else {}
        if spec.kind is pairs:
            more["action"] = _Merge
        parser.add_argument(
            option, dest=spec.dest, default=spec.default, type=_typed(spec), help=spec.help, **more
        )


def lines(options: Mapping[str, Any]) -> Sequence[str]:
    """Return ``FLAG: --name="value"`` for each flag, as the reference logs them at start (CFG-1)."""
    return [
        f"FLAG: --{spec.name}={texts.quote(_shown(options.get(spec.dest, spec.default)))}"
        for spec in sorted(specs(), key=lambda spec: spec.name)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in value.items())
    return str(value)


def _typed(spec: FlagSpec) -> Callable[[str], Any]:
    """Return the flag's reader with the reader's own words in the error."""

    def read(text: str) -> Any:
        try:
            return spec.kind(text)
        except ValueError as exc:
            raise argparse.ArgumentTypeError(str(exc)) from exc

    return read


class _Merge(argparse.Action):
    """Repeated flags merge (CFG-1)."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), **values})
