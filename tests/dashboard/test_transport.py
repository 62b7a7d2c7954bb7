"""A Publication on its way through the channel layer (console.md 7.1)."""

from copy import deepcopy

import pytest

from dashboard.live import transport
from scheduler_app.core.publication import Publication
from tests.dashboard.clusters import Cluster, make_publication

NOW = 1_793_582_531_250


@pytest.mark.parametrize(
    "publication", [make_publication(), Cluster(now_ms=NOW).whole(), Cluster(now_ms=NOW).step(NOW)]
)
def test_what_another_process_receives_equals_what_was_sent(publication: Publication) -> None:
    assert transport.decode(transport.encode(publication)) == transport.decode(
        transport.encode(transport.decode(transport.encode(publication)))
    )
    assert plain(transport.decode(transport.encode(publication))) == plain(publication)


def plain(publication: Publication) -> bytes:
    return transport.encode(publication)


def test_a_big_picture_goes_in_pieces_and_comes_out_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "PIECE_BYTES", 1000)
    whole = Cluster(now_ms=NOW).whole()
    messages = transport.pieces(whole)
    assert len(messages) > 5
    assembler = transport.Assembler()
    results = [assembler.add(message) for message in reversed(messages)]
    assert results[:-1] == [None] * (len(messages) - 1)
    assert results[-1] is not None
    assert plain(results[-1]) == plain(whole)


def test_pieces_of_lost_pictures_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "PIECE_BYTES", 1000)
    assembler = transport.Assembler()
    first = transport.pieces(Cluster(now_ms=NOW).whole())
    assembler.add(first[0])
    for _ in range(transport.OPEN_SETS + 1):
        assembler.add(transport.pieces(Cluster(now_ms=NOW).whole())[0])
    assert [assembler.add(message) for message in first[1:]] == [None] * (len(first) - 1)


def test_inside_one_process_the_value_itself_is_handed_over() -> None:
    publication = make_publication()
    copied = deepcopy(transport.hand_over(publication))
    assert transport.Assembler().add(copied) is publication
