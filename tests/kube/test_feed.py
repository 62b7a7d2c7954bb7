import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.kube import feed
from scheduler_app.kube.errors import DecodeError

LINES = st.lists(st.text(alphabet='aß東\N{GRINNING FACE}{}" ', min_size=1).filter(str.strip), max_size=6)


@given(whole=LINES, cuts=st.lists(st.integers(0, 80), max_size=12))
def test_lines_are_the_same_wherever_the_stream_is_cut(whole: list[str], cuts: list[int]) -> None:
    """I16: multi-byte characters split between pieces included."""
    stream = "".join(line + "\n" for line in whole).encode()
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(edges)]
    assert [line.decode() for line in feed.lines(pieces)] == whole


def test_blank_lines_are_skipped_and_half_a_line_is_dropped() -> None:
    assert list(feed.lines([b"\n\na\n", b"  \nb\n", b"half"])) == [b"a", b"b"]


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "LINE_LIMIT", 10)
    with pytest.raises(DecodeError):
        list(feed.lines([b"123456", b"123456"]))
