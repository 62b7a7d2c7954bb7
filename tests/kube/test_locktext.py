"""P-11."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from scheduler_app.core.errors import CodecError
from scheduler_app.kube import locktext
from scheduler_app.kube.locktext import LockText, parse_lock
from tests.factories import make_pod

AT = datetime(2026, 1, 2, 15, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "lock"),
    [
        ("2026-01-02T15:04:05Z,ns,pod", LockText(AT, "ns", "pod")),
        ("2026-01-02T15:04:05Z", LockText(AT)),
        ("2026-01-02T23:04:05+08:00,ns,pod", LockText(AT, "ns", "pod")),
        ("2026-01-02T15:04:05.5Z,ns,pod", LockText(AT + timedelta(seconds=0.5), "ns", "pod")),
        ("2026-01-02T15:04:05.123456789Z", LockText(AT + timedelta(microseconds=123456))),
        ("2026-01-02T15:04:05-00:00", LockText(AT)),
        ("2026-01-02T10:04:05-05:00", LockText(AT)),
        ("2026-01-02T15:04:05+24:00", LockText(AT - timedelta(hours=24))),
        ("2026-01-02T15:04:05Z,,", LockText(AT)),
        ("2026-01-02T15:04:05Z, ns , pod ", LockText(AT, " ns ", " pod ")),
    ],
)
def test_locks_that_can_be_read(text: str, lock: LockText) -> None:
    assert parse_lock(text) == lock


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        ",,",
        "1700000000",
        "2026-01-02t15:04:05Z",
        "2026-01-02T15:04:05z",
        "2026-01-02T15:04:05",
        "2026-01-02 15:04:05",
        " 2026-01-02T15:04:05Z",
        "2026-01-02T15:04:05+0800",
        "2026-01-02T15:04:60Z",
        "2026-01-02T24:00:00Z",
        "2026-02-30T15:04:05Z",
        "2026-13-02T15:04:05Z",
        "2026-1-2T15:04:05Z",
        "2026-01-02T15:04Z",
        "x,default,p1",
        "٢026-01-02T15:04:05Z",
        "0001-01-01T00:00:00+24:00",
    ],
)
def test_times_that_cannot_be_read(text: str) -> None:
    with pytest.raises(CodecError, match="parsing time"):
        parse_lock(text)


@pytest.mark.parametrize(("text", "parts"), [(",", 2), ("a,b", 2), ("a,b,c,d", 4), (",,,", 4)])
def test_another_number_of_parts_is_an_error_that_counts_them(text: str, parts: int) -> None:
    with pytest.raises(CodecError) as caught:
        parse_lock(text)
    assert str(caught.value) == f"malformed lock annotation: expected 3 parts, got {parts} from {text}"


def test_a_lock_is_written_in_the_local_offset() -> None:
    pod = make_pod(name="p", namespace="ns")
    assert locktext.format_lock(pod, now=AT) == "2026-01-02T15:04:05Z,ns,p"
    shanghai = AT.astimezone(timezone(timedelta(hours=8)))
    assert locktext.format_lock(pod, now=shanghai) == "2026-01-02T23:04:05+08:00,ns,p"


@pytest.mark.parametrize(
    ("text", "owned"),
    [("t,ns,p", True), ("x,t,ns,p", True), ("t,ns,pp", False), ("t,other,p", False), ("ns,p", False)],
)
def test_a_lock_is_the_pods_when_it_ends_in_its_name(text: str, owned: bool) -> None:
    assert locktext.is_owned(text, make_pod(name="p", namespace="ns")) is owned
