"""Role labels of the scheduler's own pods (L-8, Q-29)."""

import pytest

from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.types import Pod
from scheduler_app.engine.roles import RoleLabels
from tests.factories import make_pod
from tests.fakes.cluster import FakeNodeWriter, FakePods

COMPONENT = {"app.kubernetes.io/component": "hami-scheduler"}
ROLE = "hami.io/scheduler-role"


def scheduler_pod(name: str, role: str = "", **pod: str) -> Pod:
    return make_pod(
        name=name, labels=COMPONENT | ({ROLE: role} if role else {}), **{"namespace": "sys", **pod}
    )


def maintain(*pods: Pod, writer: FakeNodeWriter, **config: object) -> list[tuple[str, str | None]]:
    values = {"leader_elect": True, "pod_name": "me", "pod_namespace": "sys", **config}
    RoleLabels(pods=FakePods(pods), writer=writer, config=SchedulerConfig(**values)).maintain()  # type: ignore[arg-type]  # test data
    return [(name, labels[ROLE]) for name, labels in writer.labels]


def test_the_leader_labels_itself_and_its_siblings() -> None:
    """CFG-14."""
    found = maintain(scheduler_pod("me"), scheduler_pod("you", "leader"), writer=FakeNodeWriter())
    assert found == [("sys/me", "leader"), ("sys/you", "follower")]


def test_labels_that_are_right_are_not_written() -> None:
    pods = (scheduler_pod("me", "leader"), scheduler_pod("you", "follower"))
    assert maintain(*pods, writer=FakeNodeWriter()) == []


def test_other_pods_are_left_alone() -> None:
    pods = (make_pod(name="web", namespace="sys"), scheduler_pod("away", namespace="other"))
    assert maintain(*pods, writer=FakeNodeWriter()) == []


@pytest.mark.parametrize("config", [{"leader_elect": False}, {"pod_name": ""}, {"pod_namespace": ""}])
def test_q_29_without_election_or_names_nothing_is_labelled(config: dict[str, object]) -> None:
    assert maintain(scheduler_pod("me"), writer=FakeNodeWriter(), **config) == []


def test_e05_one_failure_is_logged_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    writer = FakeNodeWriter(unwritable={"me"})
    assert maintain(scheduler_pod("me"), scheduler_pod("you"), writer=writer) == [("sys/you", "follower")]
    assert "role not labelled pod=sys/me role=leader" in caplog.text
