"""N18: what is kept of cards that fell ill and recovered, through restarts and by several replicas."""

import time

import pytest

from scheduler_app import history as module
from scheduler_app import models, selectors
from scheduler_app.core.decision import HealthReport
from scheduler_app.core.types import CardId, NodeName
from scheduler_app.history import DAY_MS, HEALTH_DAYS, History
from scheduler_app.models import HealthRecord

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither wait for more to write nor close the test's own connection."""
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.001)
    monkeypatch.setattr(module, "close_old_connections", lambda: None)


def report(at_ms: int, node: str = "n1", **healthy: bool) -> HealthReport:
    return HealthReport({NodeName(node): {CardId(id): value for id, value in healthy.items()}}, at_ms)


def write(*reports: HealthReport, prunes: bool = False) -> None:
    """Write as one batch of a process that has just started."""
    history = History(quotas=dict, units={}, keep_days=7)
    history._pruned_at = float("-inf") if prunes else float("inf")
    for told in reports:
        history.keep(told)
    history.write_once()
    assert history.problem == ""


def told(node: str = "n1") -> list[tuple[int, str, bool]]:
    return [(row["at"], row["gpu_id"], row["healthy"]) for row in selectors.health_changes(node)]


def test_cards_that_were_always_healthy_leave_no_row() -> None:
    write(report(1, a=True, b=True))
    assert HealthRecord.objects.count() == 0


def test_each_change_is_a_row_newest_first() -> None:
    write(report(1, a=True), report(2, a=False), report(2, node="n2", a=False), report(3, a=True))
    assert told() == [(3, "a", True), (2, "a", False)]
    assert told("n2") == [(2, "a", False)]


def test_a_restart_repeats_nothing_and_notes_what_changed_meanwhile() -> None:
    write(report(1, a=False, b=False))
    write(report(5, a=False, b=True))
    write(report(9, a=False, b=True))
    assert told() == [(5, "b", True), (1, "b", False), (1, "a", False)]
    assert HealthRecord.objects.count() == 3


def test_of_two_replicas_words_in_a_row_the_first_is_told() -> None:
    for at, healthy in ((1, False), (2, False), (3, True), (4, True)):
        HealthRecord.objects.create(at_ms=at, node="n1", gpu="a", healthy=healthy)
    assert told() == [(3, "a", True), (1, "a", False)]


def test_many_nodes_at_once_are_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "NODES_BY_NAME", 1)
    write(report(1, a=False), report(1, node="n2", a=False))
    write(report(2, a=False), report(2, node="n2", a=True))
    assert (told(), told("n2")) == ([(1, "a", False)], [(2, "a", True), (1, "a", False)])


def test_hostile_ids_and_names_are_cut_and_compared_as_cut() -> None:
    long = "x" * 400
    for at in (1, 2):
        write(HealthReport({NodeName("n1"): {CardId(long): False}}, at))
    assert told() == [(1, "x" * 253, False)]


def test_changes_go_after_ninety_days() -> None:
    now = time.time_ns() // 1_000_000
    HealthRecord.objects.create(at_ms=now - (HEALTH_DAYS + 1) * DAY_MS, node="n1", gpu="a", healthy=False)
    HealthRecord.objects.create(at_ms=now - (HEALTH_DAYS - 1) * DAY_MS, node="n1", gpu="a", healthy=True)
    write(prunes=True)
    assert [healthy for _at, _gpu, healthy in told()] == [True]


def test_the_last_word_on_a_card_stays() -> None:
    """Else a card that has been ill for a hundred days would recover unnoticed."""
    now = time.time_ns() // 1_000_000
    HealthRecord.objects.create(at_ms=now - (HEALTH_DAYS + 9) * DAY_MS, node="n1", gpu="a", healthy=False)
    write(prunes=True)
    write(report(now, a=True))
    assert [healthy for _at, _gpu, healthy in told()] == [True, False]


def test_a_process_that_writes_nothing_keeps_nothing() -> None:
    """A console replica has the publisher, and no history thread to empty the queue."""
    history = History(quotas=dict, units={}, keep_days=7)
    history.leave_to_others()
    history.keep(report(1, a=False))
    assert history.length == 0
