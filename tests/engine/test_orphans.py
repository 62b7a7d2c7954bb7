"""F11: an allocation that names a card its node does not register is logged, once."""

import logging

import pytest

from scheduler_app.core.publication import CardView, NodeView, OrphanView, PodShare
from scheduler_app.core.types import NodeName
from scheduler_app.engine.orphans import OrphanLog
from tests.dashboard.clusters import make_card_view, make_node_view

LINE = "card not registered pod=vision/train node=n1 card=old"
SHARE = PodShare("u-1", "vision", "train", 100, 10, 1)


class Heard:
    """The log lines of an ``OrphanLog``."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.log, self._caplog = OrphanLog(), caplog

    def see(self, *orphans: OrphanView, cards: tuple[CardView, ...] = ()) -> list[str]:
        """Return what is logged of a node that looks like this."""
        self._caplog.clear()
        self.log.see(node(*orphans, cards=cards))
        assert all(record.levelno == logging.WARNING for record in self._caplog.records)
        return [record.getMessage() for record in self._caplog.records]


def node(*orphans: OrphanView, cards: tuple[CardView, ...] = ()) -> NodeView:
    return make_node_view(name="n1", cards=cards, orphans=orphans)


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> Heard:
    return Heard(caplog)


def test_f11_it_is_logged_once_however_often_the_node_is_looked_at(heard: Heard) -> None:
    assert heard.see(OrphanView("old", SHARE)) == [LINE]
    assert heard.see(OrphanView("old", SHARE)) == []


def test_f11_each_allocation_has_a_line(heard: Heard) -> None:
    """Two containers of a pod on one card are one, since the line would be the same."""
    other = PodShare("u-2", "vision", "eval", 100, 10, 1)
    shown = (OrphanView("old", SHARE), OrphanView("old", SHARE), OrphanView("old", other))
    assert heard.see(*shown, OrphanView("older", SHARE)) == [
        LINE,
        "card not registered pod=vision/eval node=n1 card=old",
        "card not registered pod=vision/train node=n1 card=older",
    ]


def test_f11_a_card_that_comes_and_goes_is_the_same_allocation(heard: Heard) -> None:
    """A device plugin that flaps must not fill the log."""
    heard.see(OrphanView("old", SHARE))
    assert heard.see(cards=(make_card_view(id="old", pods=(SHARE,)),)) == []
    assert heard.see(OrphanView("old", SHARE)) == []


def test_f11_once_the_pod_has_let_go_a_later_one_is_told_again(heard: Heard) -> None:
    heard.see(OrphanView("old", SHARE))
    heard.see()
    assert heard.log.nodes == 0
    assert heard.see(OrphanView("old", SHARE)) == [LINE]


def test_f11_nothing_is_kept_of_nodes_that_are_well_or_gone(heard: Heard) -> None:
    heard.see(cards=(make_card_view(id="a", pods=(SHARE,)),))
    assert heard.log.nodes == 0
    heard.see(OrphanView("old", SHARE))
    heard.log.gone(NodeName("n1"))
    assert heard.log.nodes == 0
    assert heard.see(OrphanView("old", SHARE)) == [LINE]


def test_f11_of_a_node_that_registers_nothing_at_all_no_pod_is_logged(heard: Heard) -> None:
    """R-8: after a start each node may be waiting for its handshake; what was told before stays told."""
    lost = make_node_view(name="n1", cards=(), state="unregistered", orphans=(OrphanView("old", SHARE),))
    heard.log.see(lost)
    assert heard.log.nodes == 0
    assert heard.see(OrphanView("old", SHARE)) == [LINE]
    heard.log.see(lost)
    assert heard.see(OrphanView("old", SHARE)) == []
