"""NVIDIA's section of the device configuration (NV-1 to NV-3)."""

from dataclasses import dataclass, field

from scheduler_app.core.errors import ConfigError

_SHORTEST_SLICE = 2  # "1g"


@dataclass(frozen=True, slots=True)
class MigProfileRule:
    """Profiles allowed on cards whose model contains one of ``models``; the node plugin applies it."""

    models: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NvidiaConfig:
    """Resource names and defaults. Members after ``mig_profile_allowlist`` concern the node plugin only."""

    resource_count_name: str = ""
    resource_memory_name: str = ""
    resource_memory_percentage_name: str = ""
    resource_core_name: str = ""
    resource_priority_name: str = ""
    overwrite_env: bool = False
    default_memory: int = 0  # MiB when a request names no memory; 0 means the whole card
    default_cores: int = 0
    default_gpu_num: int = field(default=0, metadata={"key": "defaultGPUNum"})
    memory_factor: int = 0  # MiB a unit of the memory resource stands for; 0 and 1 leave it as it is
    gpu_core_policy: str = ""
    runtime_class_name: str = ""
    mig_profile_allowlist: tuple[MigProfileRule, ...] = ()
    disable_core_limit: bool = False
    device_split_count: int | None = field(default=None, metadata={"bits": 64, "signed": False})
    device_memory_scaling: float | None = None
    device_core_scaling: float | None = None
    pre_configured_device_memory: int | None = field(default=None, metadata={"bits": 64})
    lib_cuda_log_level: str | None = None
    enable_numa_topology: bool | None = None


def check_allowlist(rules: tuple[MigProfileRule, ...]) -> None:
    """Validate the MIG profile allowlist (NV-3, DCF-13).

    Raises:
        ConfigError: with the reference's words.
    """
    for rule in rules:
        if not rule.models or not rule.profiles:
            _refuse("MIG profile allowlist must define models and profiles")
        for profile in rule.profiles:
            if not _is_profile(profile):
                _refuse(f'invalid MIG profile "{profile}"')


def _is_profile(text: str) -> bool:
    slices, dot, _ = text.partition(".")
    return bool(dot) and len(slices.encode()) >= _SHORTEST_SLICE and slices.endswith("g")


def _refuse(text: str) -> None:
    raise ConfigError(f"invalid MIG profile allowlist: {text}")
