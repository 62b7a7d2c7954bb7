"""Times in and out of recorded cases."""

import re

import pytest

from scheduler_app.conformance.doubles import Clock
from scheduler_app.conformance.masks import Masks
from scheduler_app.conformance.world import START


@pytest.fixture
def masks() -> Masks:
    return Masks(Clock(START), base=START)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("Requesting_<now-30s|datetime>", r"Requesting_\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
        ("<now+1h|rfc3339>,ns,p", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,ns,p"),
        ("<now|micro>", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"),
    ],
)
def test_a_time_given_is_shown_as_it_was_given(masks: Masks, text: str, shape: str) -> None:
    [given] = masks.resolved([text])
    assert re.fullmatch(shape, given)
    assert masks.hidden({"a": given}) == {"a": text}


def test_a_time_that_was_read_is_masked_and_any_other_is_shown() -> None:
    clock = Clock(START)
    masks = Masks(clock, base=START)
    read = str(int(clock.time()))
    assert masks.is_reading(read)
    assert not masks.is_reading("123")
    assert masks.hidden([read, "123"]) == ["<time>", "123"]
