"""What a filter call depends on besides the nodes: the pod's own words before the scheduler's (F-23)."""

import pytest

from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.quota import NO_QUOTA
from scheduler_app.engine.evaluation import ask_for
from tests.factories import make_context, make_pod


@pytest.mark.parametrize(
    ("annotations", "card_policy", "is_mutex"),
    [
        ({}, "mutex", True),
        ({"hami.io/gpu-scheduler-policy": "spread"}, "spread", False),
        ({"hami.io/gpu-scheduler-policy": "binpack , mutex"}, "binpack , mutex", True),
        ({"hami.io/gpu-scheduler-policy": ""}, "", False),
        ({"hami.io/node-scheduler-policy": "spread"}, "mutex", True),
    ],
)
def test_the_pods_device_policy_holds_even_when_empty(
    annotations: dict[str, str], card_policy: str, is_mutex: bool
) -> None:
    """F-23, VB-12, VC-7: the key counts if it exists, else the scheduler's own policy."""
    config = SchedulerConfig(card_policy="mutex")
    pod = make_pod(annotations=annotations)
    asked = ask_for(pod, requests=(), backends={}, config=config, quota=NO_QUOTA)
    assert asked.card_policy == card_policy
    assert make_context(policy=asked.card_policy).is_mutex is is_mutex
