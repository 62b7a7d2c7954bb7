"""Flags win over the environment, the environment over defaults (CFG-1, CFG-4)."""

from pathlib import Path

import pytest

from scheduler_app import conf
from scheduler_app.core.errors import ConfigError

pytestmark = pytest.mark.usefixtures("unset")


def test_a_flag_as_given_else_its_default() -> None:
    assert conf.flag("node_scheduler_policy") == "binpack"
    conf.set_flags(node_scheduler_policy="spread")
    assert conf.flag("node_scheduler_policy") == "spread"
    conf.clear_flags()
    assert conf.flag("node_scheduler_policy") == "binpack"


def test_the_scheduler_s_settings_are_collected() -> None:
    conf.set_flags(
        scheduler_name="hami",
        leader_elect=True,
        leader_elect_resource_name="l",
        node_label_selector={"a": "b"},
    )
    conf.set_flags(HOST_NAME="me", POD_NAME="p", POD_NAMESPACE="ns", READYZ_FOLLOWER_OK=True)
    config = conf.scheduler_config()
    assert (config.scheduler_name, config.leader_elect, config.lease_name) == ("hami", True, "l")
    assert (config.host_name, config.pod_name, config.pod_namespace) == ("me", "p", "ns")
    assert config.node_label_selector == {"a": "b"}
    assert config.readyz_follower_ok


def test_the_host_s_own_name_is_the_identity() -> None:
    """CFG-4."""
    assert conf.scheduler_config().host_name


@pytest.mark.parametrize(
    ("flag", "environment", "seconds"),
    [(None, "", 300.0), (None, "2m", 120.0), (60.0, "2m", 60.0), (300.0, "2m", 300.0)],
)
def test_q_14_the_lock_timeout_of_the_environment_counts_without_the_flag(
    flag: float | None, environment: str, seconds: float
) -> None:
    conf.set_flags(NODELOCK_EXPIRE=environment)
    if flag is not None:
        conf.set_flags(node_lock_timeout=flag)
    assert conf.scheduler_config().node_lock_timeout_seconds == seconds


def test_an_unreadable_lock_timeout_is_named() -> None:
    conf.set_flags(NODELOCK_EXPIRE="soon")
    with pytest.raises(ConfigError, match="HAMI_NODELOCK_EXPIRE"):
        conf.scheduler_config()


@pytest.mark.parametrize(("qps", "burst", "rate"), [(0.0, 0, (5.0, 10)), (50.0, 100, (50.0, 100))])
def test_zero_stands_for_the_client_s_own_rate(qps: float, burst: int, rate: tuple[float, int]) -> None:
    """CFG-1."""
    conf.set_flags(kube_qps=qps, kube_burst=burst)
    assert conf.write_rate() == rate


def test_without_a_cluster_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setattr("kubernetes.config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))
    conf.set_flags(KUBE_API="")
    with pytest.raises(ConfigError, match="set KUBECONFIG or KUBE_API"):
        conf.api_client()


def test_a_plain_api_address_needs_no_kubeconfig() -> None:
    conf.set_flags(KUBE_API="http://127.0.0.1:9")
    assert conf.api_client().configuration.host == "http://127.0.0.1:9"
