"""What was decided goes to the database in batches; one that fails costs history and nothing else."""

import threading
from collections.abc import Mapping

import pytest
from django.db import DatabaseError, InterfaceError, connection

from scheduler_app import history as module
from scheduler_app.core.decision import AdmissionRefusal, BindOutcome
from scheduler_app.core.quota import NamespaceQuota, QuotaEntry
from scheduler_app.core.types import NodeName
from scheduler_app.history import History
from scheduler_app.models import DecisionRecord, QuotaRow, RefusalRecord
from tests.engine.world import World, asking, pod_of, registered

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither wait for more to write nor close the test's own connection."""
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.001)
    monkeypatch.setattr(module, "QUOTA_SECONDS", 0.0)
    monkeypatch.setattr(module, "close_old_connections", lambda: None)


def make_history(quotas: Mapping[str, NamespaceQuota] | Exception | None = None) -> History:
    def read() -> Mapping[str, NamespaceQuota]:
        if isinstance(quotas, Exception):
            raise quotas
        return quotas or {}

    return History(quotas=read, units={"plain.io/mem": "256 MiB"}, keep_days=7)


def test_decisions_and_refusals_are_kept() -> None:
    history, world = make_history(), World(registered("n1", "a"))
    history.keep(world.filter(pod_of()))
    history.keep(world.filter(pod_of(asking(mem_mib=10**6), name="q")))
    history.keep(AdmissionRefusal("default", "ReplicaSet/r", "no", world.log.decisions[0].at_ms))
    history.keep(BindOutcome("default", "p", "u", NodeName("n1")))
    history._pruned_at = float("inf")  # the fake clock's decisions are old
    history.write_once()
    assert {(row.pod, row.kind, row.node) for row in DecisionRecord.objects.all()} == {
        ("p", "placed", "n1"),
        ("q", "refused", ""),
    }
    assert RefusalRecord.objects.get().message == "no"


def test_equal_refusals_are_counted_in_one_row() -> None:
    history = make_history()
    history._pruned_at = float("inf")
    for at in (1, 2, 3):
        history.keep(AdmissionRefusal("default", "ReplicaSet/r", "no", at))
    history.write_once()
    row = RefusalRecord.objects.get()
    assert (row.count, row.first_ms, row.last_ms) == (3, 1, 3)


def test_quotas_are_copied_and_gone_when_they_go() -> None:
    quotas = {"team": NamespaceQuota({"plain.io/mem": QuotaEntry(5, 10, "q")})}
    history = make_history(quotas)
    history.write_once()
    row = QuotaRow.objects.get()
    assert (row.namespace, row.resource, row.used, row.limit, row.unit, row.source) == (
        "team",
        "plain.io/mem",
        5,
        10,
        "256 MiB",
        "q",
    )
    quotas.clear()
    history.write_once()
    assert not QuotaRow.objects.exists()


def test_unchanged_quotas_are_not_written_again(django_assert_num_queries: object) -> None:
    history = make_history({"team": NamespaceQuota({"plain.io/mem": QuotaEntry(5, 10, "q")})})
    history._pruned_at = float("inf")
    history.write_once()
    with django_assert_num_queries(0):  # type: ignore[operator]  # pytest-django's fixture
        history.write_once()


@pytest.mark.parametrize(
    "error", [DatabaseError("disk full"), InterfaceError("connection already closed"), ValueError("NUL")]
)
def test_a_database_that_fails_is_told_once_and_the_next_batch_is_written(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """The thread goes on; the problem is shown while it lasts."""
    history = make_history(error)
    for _ in range(3):
        history.write_once()
    assert history.problem == str(error)
    assert caplog.text.count("history not written") == 1
    history._quotas = dict
    history.write_once()
    assert history.problem == ""


def test_one_bad_entry_does_not_take_the_batch_with_it(caplog: pytest.LogCaptureFixture) -> None:
    """A refusal's owner is what somebody wrote: text no column takes costs itself only."""
    history, world = make_history(), World(registered("n1", "a"))
    history._pruned_at = float("inf")
    history.keep(AdmissionRefusal("default", "\x00" + "x" * 10_000, "m" * 10_000, 1))
    history.keep(world.filter(pod_of()))
    history.write_once()
    assert DecisionRecord.objects.count() == 1
    assert RefusalRecord.objects.get().owner == "x" * 317


def test_a_full_queue_drops_and_never_waits(caplog: pytest.LogCaptureFixture) -> None:
    history = make_history()
    refusal = AdmissionRefusal("default", "o", "m")
    for _ in range(module.QUEUE_LIMIT + 3):
        history.keep(refusal)
    assert (history.length, history.dropped) == (module.QUEUE_LIMIT, 3)
    assert caplog.text.count("history not kept reason=queue_full") == 1


def test_old_rows_go(monkeypatch: pytest.MonkeyPatch) -> None:
    history = make_history()
    world = World(registered("n1", "a"))
    world.clock.epoch = 1.0
    history.keep(world.filter(pod_of()))
    history.write_once()
    assert not DecisionRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_thread_empties_its_queue_before_it_ends() -> None:
    history, stop = make_history(), threading.Event()
    history._pruned_at = float("inf")
    for number in range(5):
        history.keep(AdmissionRefusal("default", f"o{number}", "m", 1))
    stop.set()
    history.run(stop)  # in this thread: the test's database is in memory
    assert history.length == 0
    assert connection.connection is None or RefusalRecord.objects.count() == 5
