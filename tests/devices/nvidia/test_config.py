"""NVIDIA's section of the device configuration (NV-1 to NV-3)."""

import pytest

from scheduler_app.core.errors import ConfigError
from scheduler_app.devices.nvidia import VENDOR
from scheduler_app.devices.nvidia.backend import build
from scheduler_app.devices.nvidia.config import MigProfileRule, NvidiaConfig
from tests.devices.nvidia.cards import config


@pytest.mark.parametrize("profile", ["1g.5gb", "xg.", "12g.5gb.x", "1g.", "7g.40gb"])
def test_profiles_that_name_slices_are_accepted(profile: str) -> None:
    """NV-3."""
    assert build(config(mig_profile_allowlist=(MigProfileRule(("A100",), (profile,)),)))


@pytest.mark.parametrize("profile", ["1g5gb", "g.5gb", "1x.5gb", "1g", "", ".5gb"])
def test_other_profiles_stop_the_start(profile: str) -> None:
    """NV-3, DCF-13."""
    rules = (MigProfileRule(("A30",), ("1g.6gb",)), MigProfileRule(("A100",), (profile,)))
    with pytest.raises(ConfigError) as raised:
        build(config(mig_profile_allowlist=rules))
    assert str(raised.value) == f'invalid MIG profile allowlist: invalid MIG profile "{profile}"'


@pytest.mark.parametrize("rule", [MigProfileRule((), ("1g.5gb",)), MigProfileRule(("A100",), ())])
def test_a_rule_needs_models_and_profiles(rule: MigProfileRule) -> None:
    """NV-3."""
    with pytest.raises(
        ConfigError, match=r"^invalid MIG profile allowlist: MIG profile allowlist must define"
    ):
        build(config(mig_profile_allowlist=(rule,)))


def test_there_is_always_exactly_one_backend() -> None:
    """NV-1: also when the section is missing."""
    (backend,) = build(NvidiaConfig())
    assert backend.vendor_key == "NVIDIA"
    assert VENDOR.rank == 1
