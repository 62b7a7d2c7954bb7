"""What pods hold by their annotations alone: the replay's second opinion on the accounting."""

from collections import Counter
from typing import Any

import pytest

from scheduler_app.conformance.quirks import held
from scheduler_app.conformance.quirks.q1 import moved


def use(used: int, mem: int, cores: int) -> Counter[str]:
    return Counter(used=used, usedmem=mem, usedcores=cores)


@pytest.mark.parametrize(
    ("text", "ends_early", "has_ended", "expected"),
    [
        ("a,X,100,10:;a,X,50,5:;", [], False, {"a": use(2, 150, 15)}),
        ("a,X,100,10:;a,X,50,5:;", [True], False, {"a": use(1, 100, 10)}),
        ("a,X,100,10:;a,X,50,5:;", [True], True, {"a": use(1, 50, 5)}),
        ("a,X,100,10:;;b,X,50,5:;", [True], False, {"a": use(1, 100, 10), "b": use(1, 50, 5)}),
        ("a,X,100,10:;a,X,50,5:;", [False], False, {"a": use(2, 150, 15)}),
        (";", [], False, {}),
    ],
)
def test_init_containers_count_by_their_peak(
    text: str, ends_early: list[bool], has_ended: bool, expected: dict[str, Any]
) -> None:
    """M-12 to M-14; Q-23: a sidecar does not end early."""
    assert held.effective(text, ends_early, has_ended=has_ended) == expected


@pytest.mark.parametrize("text", ["a,X,1:;", "a,X,one,0:;", "a,X,4294967297,0:;"])
def test_a_text_that_cannot_be_read_holds_nothing_silently(text: str) -> None:
    with pytest.raises((IndexError, ValueError)):
        held.containers_of(text)


@pytest.mark.parametrize(
    ("text", "asking", "expected"),
    [
        ("a,X,1,0:;", [False, True], ";a,X,1,0:;"),
        ("a,X,1,0:;;b,X,1,0:;", [True, True, False], "a,X,1,0:;b,X,1,0:;;"),
        ("a,X,1,0:;", [True], "a,X,1,0:;"),
        ("a,X,1,0:;", [True, True], "a,X,1,0:;"),
    ],
)
def test_segments_move_to_the_containers_that_ask(text: str, asking: list[bool], expected: str) -> None:
    """Q-1: as many segments as containers that ask, in order; another number stays as it was."""
    assert moved(text, asking) == expected
