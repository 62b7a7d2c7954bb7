"""N18: a card that falls ill and recovers is told to whoever keeps history."""

import pytest

from scheduler_app.core.decision import HealthReport
from scheduler_app.core.types import NodeName
from scheduler_app.engine.health import HealthLog
from tests.dashboard.clusters import make_card_view, make_node_view


class Ward:
    """A node whose cards fall ill; ``told`` is what was reported, as plain values."""

    def __init__(self) -> None:
        self.reports: list[HealthReport] = []
        self.log = HealthLog(self.reports.append)

    def see(self, at_ms: int = 0, **healthy: bool) -> None:
        cards = [make_card_view(id=id, healthy=value) for id, value in healthy.items()]
        self.log.see(make_node_view(name="n1", cards=cards))
        self.log.tell(at_ms=at_ms)

    def told(self) -> list[tuple[str, dict[str, bool], int]]:
        found = [
            (str(node), {str(id): value for id, value in cards.items()}, report.at_ms)
            for report in self.reports
            for node, cards in report.healthy.items()
        ]
        self.reports.clear()
        return found


@pytest.fixture
def ward() -> Ward:
    ward = Ward()
    ward.see(a=True, b=True)
    ward.told()
    return ward


def test_what_is_seen_first_is_told() -> None:
    """History alone knows how the card was before a restart."""
    ward = Ward()
    ward.see(a=True, b=False, at_ms=5)
    assert ward.told() == [("n1", {"a": True, "b": False}, 5)]


def test_a_whole_cluster_is_one_report() -> None:
    """Thousands of nodes at the start would else push decisions out of the queue."""
    ward = Ward()
    for name in ("n1", "n2"):
        ward.log.see(make_node_view(name=name, cards=[make_card_view(id="a", healthy=False)]))
    ward.log.tell(at_ms=1)
    assert len(ward.reports) == 1
    assert [told[0] for told in ward.told()] == ["n1", "n2"]


def test_n18_both_ways_are_told_with_the_time_and_the_card_alone(ward: Ward) -> None:
    ward.see(a=False, b=True, at_ms=7)
    ward.see(a=True, b=True, at_ms=9)
    assert ward.told() == [("n1", {"a": False}, 7), ("n1", {"a": True}, 9)]


def test_a_node_that_changed_otherwise_is_not_told(ward: Ward) -> None:
    ward.see(a=True, b=True, at_ms=7)
    ward.see(b=True, at_ms=8)
    assert ward.told() == []


def test_a_card_that_left_and_came_back_is_seen_first_again(ward: Ward) -> None:
    ward.see(b=True)
    ward.see(a=False, b=True, at_ms=8)
    ward.log.gone(NodeName("n1"))
    ward.see(a=False, b=True, at_ms=9)
    assert ward.told() == [("n1", {"a": False}, 8), ("n1", {"a": False, "b": True}, 9)]
