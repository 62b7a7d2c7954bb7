"""Whatever stands in a node's annotations and capacity, a pass survives it and other nodes are registered."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_app import deviceconfig, vendortable
from scheduler_app.core.errors import CodecError
from scheduler_app.core.predicate import requests_of
from scheduler_app.core.types import Card
from scheduler_app.engine.handover import own_keys
from tests.engine.passes import Passes
from tests.engine.world import holding
from tests.factories import make_container, make_node, make_pod

BACKENDS = deviceconfig.load(vendortable.CONFIG.read_text("utf-8"), vendortable.all_enabled()).backends
KEYS = sorted({key for b in BACKENDS.values() for key in (b.keys.register, b.keys.handshake) if key})
COUNTS = sorted({b.names.count for b in BACKENDS.values() if b.names.count})
AMOUNTS = sorted(
    {name for b in BACKENDS.values() for name in (b.names.count, b.names.mem, b.names.cores) if name}
)

scalars = st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats() | st.text(max_size=6)
cards = st.lists(
    st.dictionaries(
        st.sampled_from(
            ["id", "count", "devmem", "devcore", "type", "health", "numa", "index", "mode", "custominfo"]
        )
        | st.text(max_size=4),
        scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=3), scalars, max_size=2),
        max_size=6,
    )
    | scalars,
    max_size=3,
)
texts = (
    st.text(max_size=30)
    | cards.map(json.dumps)
    | st.sampled_from(
        ["[null]", "null", "{}", "[]", ":", ",,,,,,:", "a,1,2,3,t,0,true:", '[{"id":1}]', "Requesting_"]
    )
    | st.lists(scalars.map(str), min_size=7, max_size=9).map(lambda parts: ",".join(parts) + ":")
)
quantities = st.text(max_size=6) | st.sampled_from(["0", "8", "-1", "1e400", "9" * 40, "1.5", "8Gi", "m"])


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(KEYS) | st.just("hami.io/node-nvidia-score"), texts, max_size=4),
    st.dictionaries(st.sampled_from(COUNTS), quantities, max_size=3),
)
def test_q_50_every_vendor_reads_or_refuses(annotations: dict[str, str], capacity: dict[str, str]) -> None:
    """Parity policy 4: a ``CodecError``, never another exception."""
    node = make_node("odd", annotations=annotations, capacity=capacity, allocatable=capacity)
    for backend in BACKENDS.values():
        try:
            found: tuple[Card, ...] = backend.node_cards(node)
        except CodecError:
            continue
        assert all(isinstance(card.id, str) for card in found)


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(st.sampled_from(KEYS), texts, max_size=4),
    st.dictionaries(st.sampled_from(COUNTS), quantities, max_size=3),
)
def test_r_19_a_pass_survives_any_node(annotations: dict[str, str], capacity: dict[str, str]) -> None:
    good = make_node(
        "good",
        allocatable={"nvidia.com/gpu": "1"},
        annotations={
            "hami.io/node-nvidia-register": json.dumps(
                [{"id": "a", "count": 1, "devmem": 1, "devcore": 1, "type": "NVIDIA", "health": True}]
            )
        },
    )
    odd = make_node("odd", annotations=annotations, capacity=capacity, allocatable=capacity)
    passes = Passes(odd, good, backends=BACKENDS)
    for _ in range(2):
        passes.run(after=61)
    assert passes.cards("good") == ["a"]


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(AMOUNTS), quantities, max_size=4),
    st.dictionaries(st.sampled_from(AMOUNTS), quantities, max_size=2),
)
def test_w17_every_vendor_makes_something_or_nothing_of_any_amount(
    limits: dict[str, str], requests: dict[str, str]
) -> None:
    """No amount is an exception, and none leaves 32 bits (W16)."""
    container = make_container("c", limits=limits, requests=requests)
    for asked in requests_of(make_pod(containers=(container,)), BACKENDS):
        for request in asked.values():
            assert all(
                -(2**31) <= amount < 2**31 for amount in (request.cards, request.mem_mib, request.cores)
            )


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(own_keys(BACKENDS))), texts, max_size=4), texts)
def test_f13_f20_any_pod_annotation_is_counted_or_refused(annotations: dict[str, str], text: str) -> None:
    """Nothing but a ``CodecError`` comes out, and what was counted before still is."""
    passes = Passes(make_node("n1"), backends=BACKENDS)
    state: Any = passes.state
    cut = {"id": "m", "count": 7, "devmem": 1, "devcore": 1, "type": "NVIDIA", "health": True, "mode": "mig"}
    passes.nodes.change("n1", annotations={"hami.io/node-nvidia-register": json.dumps([cut])})
    passes.run()
    pod = holding(make_pod(annotations=annotations), "n1", text)
    try:
        state.see_pod(pod)
    except CodecError:
        assert state.pods() == ()
    assert len(state.everything()) == 1
