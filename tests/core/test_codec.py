"""Texts of peers to values and back (P-4 to P-10)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core import codec
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import Allocation, Card, CardId, Placement, SliceProfile, VendorKey

X = VendorKey("X")


def device(id: str, mem: int, cores: int, vendor: str = "NVIDIA") -> Allocation:
    return Allocation(CardId(id), vendor, mem, cores, shares=0)


# Pod device text


@pytest.mark.parametrize(
    ("containers", "text"),
    [
        ([[device("GPU-1", 3000, 0)]], "GPU-1,NVIDIA,3000,0:;"),
        ([[device("GPU-1", 3000, 0), device("GPU-2", 3000, 0)]], "GPU-1,NVIDIA,3000,0:GPU-2,NVIDIA,3000,0:;"),
        ([[], [device("GPU-1", 1000, 10)]], ";GPU-1,NVIDIA,1000,10:;"),
        (
            [[device("GPU-1", 2000, 10)], [], [device("GPU-1", 1000, 10)]],
            "GPU-1,NVIDIA,2000,10:;;GPU-1,NVIDIA,1000,10:;",
        ),
        ([[device("GPU-a", 1000, 10)], []], "GPU-a,NVIDIA,1000,10:;;"),
        ([], ""),
        ([[], []], ";;"),
    ],
)
def test_devices_are_written_container_by_container(containers: list[list[Allocation]], text: str) -> None:
    """W10, P-8: a container without devices is an empty segment, and is one when it is read again."""
    assert codec.encode_devices(containers) == text
    read = codec.decode_devices(text)
    assert read[: len(containers)] == tuple(tuple(container) for container in containers)
    assert not any(read[len(containers) :])


@pytest.mark.parametrize(
    ("text", "containers"),
    [
        ("", [[]]),
        ("a", [[]]),
        ("x:y", [[]]),
        ("a,b,1,2", [[device("a", 1, 2, "b")]]),
        ("a,b,1,2:", [[device("a", 1, 2, "b")]]),
        ("a,b,1,2,9:x:;;", [[device("a", 1, 2, "b")], [], []]),
        ("a,b,+1,-2:", [[device("a", 1, -2, "b")]]),
        ("a,b,1,2:;", [[device("a", 1, 2, "b")], []]),
    ],
)
def test_devices_are_read_with_their_positions(text: str, containers: list[list[Allocation]]) -> None:
    """Q-43, P-9, P-10: the trailing separator leaves one empty container."""
    assert codec.decode_devices(text) == tuple(tuple(container) for container in containers)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,1:", "pod annotation format error, missing fields, do not use nodeName in task spec"),
        ("a,b,1_0,2:", 'invalid memory field: strconv.ParseInt: parsing "1_0": invalid syntax'),
        (
            "a,b,99999999999,2:",
            'invalid memory field: strconv.ParseInt: parsing "99999999999": value out of range',
        ),
        ("a,b,1,x:", 'invalid core field: strconv.ParseInt: parsing "x": invalid syntax'),
        ("a,b,1,2:;c,d,,2:", 'invalid memory field: strconv.ParseInt: parsing "": invalid syntax'),
    ],
)
def test_one_broken_device_breaks_the_pod(text: str, message: str) -> None:
    """P-9."""
    with pytest.raises(CodecError) as raised:
        codec.decode_devices(text)
    assert str(raised.value) == message


names = st.text(st.characters(codec="utf-8", exclude_characters=",:;"), min_size=1, max_size=8)
int32 = st.integers(-(2**31), 2**31 - 1)


@given(st.lists(st.lists(st.builds(device, names, int32, int32, names), max_size=3), max_size=4))
def test_devices_come_back_as_they_were(containers: list[list[Allocation]]) -> None:
    """P-8, P-10: plus the empty container at the end."""
    read = codec.decode_devices(codec.encode_devices(containers))
    assert read == (*(tuple(container) for container in containers), ())


# Node register text, CSV form


def test_csv_segments_have_two_lengths() -> None:
    """P-6."""
    one, two = codec.decode_csv("a,1,2,3,t,0,true,1,mig:a,1,2,3,t,0,T:", X)
    assert one == Card(CardId("a"), X, "t", 1, 1, 2, 3, 0, "mig", healthy=True)
    assert two == Card(CardId("a"), X, "t", 0, 1, 2, 3, 0, "hami-core", healthy=True)


@pytest.mark.parametrize("text", [":", "::"])
def test_separators_alone_are_no_cards(text: str) -> None:
    """P-6."""
    assert codec.decode_csv(text, X) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "node annotation missing device separator"),
        ("a,1,2,3,t,0,true", "node annotation missing device separator"),
        ("a,1,2,3,t,0,true:b", 'malformed node annotation segment: "b"'),
        ("a,1:", "unexpected field count 2 in node annotation"),
        ("a,1,2,3,t,0,true,1:", "unexpected field count 8 in node annotation"),
        ("a,x,2,3,t,0,true:", 'invalid count field: strconv.ParseInt: parsing "x": invalid syntax'),
        ("a,1,x,3,t,0,true:", 'invalid memory field: strconv.ParseInt: parsing "x": invalid syntax'),
        (
            "a,1,2,3000000000,t,0,true:",
            'invalid core field: strconv.ParseInt: parsing "3000000000": value out of range',
        ),
        ("a,1,2,3,t,x,yes:", 'invalid health field: strconv.ParseBool: parsing "yes": invalid syntax'),
        ("a,1,2,3,t,x,true:", 'invalid numa field: strconv.Atoi: parsing "x": invalid syntax'),
        ("a,1,2,3,t,0,true,x,mig:", 'invalid index field: strconv.Atoi: parsing "x": invalid syntax'),
        ("a,1,2,3,t,0,true,-1,mig:", "index field must not be negative: -1"),
    ],
)
def test_csv_errors_name_the_field(text: str, message: str) -> None:
    """P-6: count, memory, core, health, numa, index, in this order."""
    with pytest.raises(CodecError) as raised:
        codec.decode_csv(text, X)
    assert str(raised.value) == message


cards = st.builds(
    Card,
    id=names.map(CardId),
    vendor=st.just(X),
    type=names,
    index=st.integers(0, 2**63 - 1),
    shares=int32,
    mem_mib=int32,
    cores=int32,
    numa=st.integers(-(2**63), 2**63 - 1),
    mode=names,
    healthy=st.booleans(),
)


@given(st.lists(cards, max_size=4))
def test_cards_come_back_from_both_forms(given_cards: list[Card]) -> None:
    """P-4, P-6."""
    if given_cards:
        assert codec.decode_csv(codec.encode_csv(given_cards), X) == tuple(given_cards)
    assert codec.decode_json(codec.encode_json(given_cards), X) == tuple(given_cards)


# Node register text, JSON form


def test_json_members_may_be_written_in_any_case() -> None:
    """P-4: unknown ones are ignored, absent ones are zero."""
    (card,) = codec.decode_json('[{"ID":"x","COUNT":10,"Health":true,"zz":1,"numa":null}]', X)
    assert card == Card(CardId("x"), X, "", shares=10, healthy=True)


def test_a_card_without_health_is_not_healthy() -> None:
    """P-4: encoders leave zero values out, so the defaults matter."""
    (card,) = codec.decode_json('[{"id":"x"}]', X)
    assert not card.healthy
    assert codec.encode_json([card]) == '[{"id":"x"}]'


def test_profiles_and_custom_data_are_read() -> None:
    """P-4."""
    profiles = [
        {
            "name": "1g.5gb",
            "memoryMB": 5120,
            "core": 14,
            "sliceCount": 1,
            "placements": [{"start": 6, "size": 1}],
        }
    ]
    (card,) = codec.decode_json(json.dumps([{"migProfiles": [*profiles, None], "custominfo": {"a": [1]}}]), X)
    assert card.profiles == (
        SliceProfile("1g.5gb", 5120, 14, 1, (Placement(6, 1),)),
        SliceProfile("", 0, 0, 0, ()),
    )
    assert card.custom == {"a": [1]}
    (again,) = codec.decode_json(codec.encode_json([card]), X)
    assert again.profiles == card.profiles


@pytest.mark.parametrize("text", ["null", "[]"])
def test_an_empty_list_is_no_error_here(text: str) -> None:
    """P-4."""
    assert codec.decode_json(text, X) == ()


@pytest.mark.parametrize(
    ("text", "blamed"),
    [
        ('[{"count":10.0}]', "[0].count"),
        ('[{"count":1e1}]', "[0].count"),
        ('[{"count":3000000000}]', "[0].count"),
        ('[{"count":true}]', "[0].count"),
        ('[{},{"index":-1}]', "[1].index"),
        ('[{"id":1}]', "[0].id"),
        ('[{"health":"true"}]', "[0].health"),
        ("[null]", "[0]"),
        ('[{"migProfiles":{}}]', "[0].migProfiles"),
        ('[{"migProfiles":[{"placements":[{"start":-1}]}]}]', "[0].migProfiles[0].placements[0].start"),
        ('[{"migtemplate":"x"}]', "[0].migtemplate"),
        ('[{"custominfo":[]}]', "[0].custominfo"),
        ('{"id":"x"}', "expected an array"),
        ('[{"numa":NaN}]', "NaN"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_one_wrong_member_fails_the_whole_text(text: str, blamed: str) -> None:
    """P-4, Q-50: and the message names it."""
    with pytest.raises(CodecError) as raised:
        codec.decode_json(text, X)
    assert blamed in str(raised.value)


def test_compact_json_has_no_blanks_and_no_markup() -> None:
    """ASC-60, MXS-14: as the reference's JSON writer does; other letters stay as they are."""
    assert codec.compact_json({"a": [1, "<é&>\u2028"]}) == '{"a":[1,"\\u003cé\\u0026\\u003e\\u2028"]}'
