"""F-35: what the standard client recorder does with similar and too many events."""

from scheduler_app.kube import correlation
from scheduler_app.kube.correlation import COMBINED_PREFIX, Correlator, Involved, Note, Recent

POD = Involved("Pod", "ns", "p", "u")


def note(message: str = "m", *, about: Involved = POD, reason: str = "FilteringFailed") -> Note:
    return Note(about, "Warning", reason, message)


def correlator(now: list[float]) -> Correlator:
    return Correlator(clock=lambda: now[0])


def test_the_tenth_different_message_of_a_kind_is_combined() -> None:
    made = correlator([0.0])
    messages = [made.combined(note(f"m{number}")).message for number in range(12)]
    assert messages == [*(f"m{number}" for number in range(9)), *[COMBINED_PREFIX] * 3]


def test_repeats_of_one_message_are_never_combined() -> None:
    made = correlator([0.0])
    assert {made.combined(note()).message for _ in range(30)} == {"m"}


def test_other_reasons_and_objects_are_counted_apart() -> None:
    made = correlator([0.0])
    for number in range(9):
        made.combined(note(f"m{number}"))
    other = Involved("Pod", "ns", "q", "v")
    assert made.combined(note("x", reason="BindingFailed")).message == "x"
    assert made.combined(note("x", about=other)).message == "x"


def test_ten_quiet_minutes_start_afresh() -> None:
    now = [0.0]
    made = correlator(now)
    for number in range(11):
        made.combined(note(f"m{number}"))
    now[0] = 601
    assert made.combined(note("later")).message == "later"


def test_an_object_has_twenty_five_events_then_one_every_five_minutes() -> None:
    now = [0.0]
    made = correlator(now)
    assert [made.allows(note()) for _ in range(27)] == [True] * 25 + [False] * 2
    now[0] = 299
    assert not made.allows(note())
    now[0] = 301
    assert made.allows(note())
    assert not made.allows(note())
    assert made.allows(note(about=Involved("Pod", "ns", "q", "v")))


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    recent: Recent[int, list[int]] = Recent()
    for number in range(correlation.REMEMBERED):
        recent.get(number, lambda: [1])
    recent.get(0, list).append(2)
    recent.get(-1, list)
    assert recent.get(0, list) == [1, 2]
    assert recent.get(1, list) == []
