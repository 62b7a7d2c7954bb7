import pytest

from simcluster.cluster import Cluster, Settings
from simcluster.errors import StatusError
from tests.simcluster.conftest import Client
from tests.simcluster.objects import gpu_pod, make_pod
from tests.simcluster.tinyextender import TinyExtender

CONFIGURATIONS = "mutatingwebhookconfigurations"


def test_a_webhook_changes_the_pods_it_is_registered_for(scheduled: Cluster, extender: TinyExtender) -> None:
    assert scheduled.api.create("pods", gpu_pod())["spec"]["schedulerName"] == "hami-scheduler"
    assert scheduled.api.create("pods", make_pod("plain"))["spec"]["schedulerName"] == "default-scheduler"
    scheduled.api.create("pods", gpu_pod("apart", labels={"hami.io/webhook": "ignore"}))
    assert extender.calls["/webhook"] == 2


def test_a_namespace_can_keep_the_webhook_away(scheduled: Cluster, extender: TinyExtender) -> None:
    """K2.4-2."""
    scheduled.api.create(
        "namespaces", {"metadata": {"name": "quiet", "labels": {"hami.io/webhook": "ignore"}}}
    )
    scheduled.api.create("pods", gpu_pod(), namespace="quiet")
    assert "/webhook" not in extender.calls


def test_warnings_are_forwarded(scheduled: Cluster) -> None:
    """K4.5-11."""
    answer = Client(scheduled.url).call("POST", "/api/v1/namespaces/default/pods", gpu_pod())
    assert answer.headers["Warning"] == '299 - "tiny"'


def test_a_denial_is_final(scheduled: Cluster, extender: TinyExtender) -> None:
    """K2.2-4: failurePolicy plays no part."""
    extender.denial = "exceeding resource quota"
    with pytest.raises(StatusError) as refusal:
        scheduled.api.create("pods", gpu_pod())
    assert refusal.value.code == 403
    assert (
        refusal.value.message
        == 'admission webhook "vgpu.hami.io" denied the request: exceeding resource quota'
    )


@pytest.mark.parametrize("policy", ["Ignore", "Fail"])
def test_the_failure_policy_decides_when_nobody_answers(policy: str) -> None:
    """K2.2-1."""
    settings = Settings(fleet="", workload=False, webhook_url="http://127.0.0.1:9/webhook")
    with Cluster(settings) as cluster:
        webhook = cluster.api.get(CONFIGURATIONS, "hami-webhook")["webhooks"][0] | {"failurePolicy": policy}
        cluster.api.patch(CONFIGURATIONS, "hami-webhook", {"webhooks": [webhook]})
        if policy == "Ignore":
            assert cluster.api.create("pods", gpu_pod())["spec"]["schedulerName"] == "default-scheduler"
            return
        with pytest.raises(StatusError, match="failed calling webhook") as refusal:
            cluster.api.create("pods", gpu_pod())
        assert refusal.value.code == 500


def test_version_one_is_held_to_its_rules(scheduled: Cluster) -> None:
    """K2.2-2."""
    webhook = scheduled.api.get(CONFIGURATIONS, "hami-webhook")["webhooks"][0]
    scheduled.api.patch(
        CONFIGURATIONS, "hami-webhook", {"webhooks": [webhook | {"admissionReviewVersions": ["v1"]}]}
    )
    assert scheduled.api.create("pods", gpu_pod())["spec"]["schedulerName"] == "hami-scheduler"
