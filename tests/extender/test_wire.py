"""Reading the protocol: whatever form a body has, both readers say the same (H-6 to H-12)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_app.core.decision import Decision
from scheduler_app.core.errors import HamiError
from scheduler_app.extender import casefold, wire
from tests.extender.door import node_json, pod_json
from tests.factories import make_pod

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
NAMES = (
    "Pod",
    "pod",
    "NodeNames",
    "nodenames",
    "Nodes",
    "nodes",
    "PodName",
    "podname",
    "Node",
    "PodUID",
    "x",
)


PARSERS: tuple[Callable[[bytes], object], ...] = (wire.parse_filter, wire.parse_bind)


def is_read_or_refused(parse: Callable[[bytes], object], body: bytes) -> bool:
    """Say whether the body was read, or refused with a text."""
    try:
        parse(body)
    except HamiError as exc:
        return bool(str(exc))
    return True


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), anything | st.just(pod_json()), max_size=4) | anything)
def test_whatever_comes_is_read_or_refused_by_name(body: Any) -> None:
    """Parity policy 4: never another exception."""
    assert all(is_read_or_refused(parse, json.dumps(body).encode()) for parse in PARSERS)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_bytes_that_are_not_json_are_refused(body: bytes) -> None:
    assert all(is_read_or_refused(parse, body) for parse in PARSERS)


@pytest.mark.parametrize("names", [["n1", "n2"], [], None])
@pytest.mark.parametrize("spelling", ["Pod,NodeNames", "pod,nodenames"])
def test_usual_and_unusual_spellings_are_read_alike(names: list[str] | None, spelling: str) -> None:
    pod, listed = spelling.split(",")
    args = wire.parse_filter(json.dumps({pod: pod_json(), listed: names}).encode())
    assert args.pod.name == "p"
    assert list(args.names or ()) == (names or [])


def test_the_last_spelling_of_a_member_wins() -> None:
    """As in Go."""
    body = b'{"NodeNames":["a"],"nodenames":["b"],"Pod":' + json.dumps(pod_json()).encode() + b"}"
    assert wire.parse_filter(body).names == ("b",)


def test_duplicate_members_take_the_last() -> None:
    body = b'{"Pod":null,"Pod":' + json.dumps(pod_json("q")).encode() + b',"NodeNames":["a"]}'
    assert wire.parse_filter(body).pod.name == "q"


def test_a_null_node_is_a_node_without_a_name() -> None:
    """F-43."""
    args = wire.parse_filter(json.dumps({"Pod": pod_json(), "Nodes": {"items": [None]}}).encode())
    assert args.nodes is not None
    assert [node.name for node in args.nodes] == [""]


def test_the_node_echoed_is_the_first_of_its_name() -> None:
    """F-43: the last one counts, the first one is returned."""
    first, last = node_json("t"), node_json("t", "x")
    args = wire.parse_filter(json.dumps({"Pod": pod_json(), "Nodes": {"items": [first, last]}}).encode())
    assert wire._one_node(args.nodes[0].name, args.raw_nodes)["items"] == [first]  # type: ignore[index]  # given above


def test_errors_have_all_members() -> None:
    assert wire.filter_error("x") == wire.filter_result(
        Decision(make_pod(), "error", error="x"), wire.FilterArgs(make_pod())
    )


def test_folding_leaves_data_alone() -> None:
    raw = {"METADATA": {"Annotations": {"Key": "V", "key": "v"}}, "other": {"Spec": 1}}
    assert casefold.fold(raw, casefold.POD) == {
        "metadata": {"annotations": {"Key": "V", "key": "v"}},
        "other": {"Spec": 1},
    }


def test_trailing_blanks_and_lines_are_no_matter() -> None:
    body = b"\n " + json.dumps({"Pod": pod_json(), "NodeNames": ["a"]}).encode() + b"\n\n"
    assert wire.parse_filter(body).names == ("a",)
