"""Shared Metax cards. Rules MXS-7, MXS-10, MXS-12 to MXS-15, cases MXS-E16 to MXS-E20, MXS-E28 to MXS-E45."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, VendorKey
from tests.devices.metax.cards import (
    APP_CLASS,
    KEY,
    SGPU,
    TOPOLOGY_AWARE,
    ask,
    fit,
    sgpu_backend,
    sgpu_card,
    sgpu_node,
    wants,
)
from tests.devices.placing import OneNode
from tests.factories import make_container, make_context, make_pod


def in_zones(text: str) -> list[CardUsage]:
    """Return idle cards from ``"a1 b2"``: a letter and a link zone."""
    return [sgpu_card(word[0], zone=int(word[1:])) for word in text.split()]


def test_the_last_card_goes_first() -> None:
    """MXS-E16."""
    assert fit(sgpu_card("a"), sgpu_card("b")) == (["b"], "")


@pytest.mark.parametrize(
    ("state", "request_", "reason"),
    [
        (sgpu_card(healthy=False), ask(), "1/1 CardUnhealthy"),
        (sgpu_card(used=(10, 0, 0)), ask(), "1/1 CardTimeSlicingExhausted"),
        (sgpu_card(), ask(cores=120), "1/1 CardInsufficientCore"),
        (sgpu_card(), ask(percent=101), "1/1 CardInsufficientMemory"),
        (sgpu_card(used=(1, 901, 0)), ask(mem=100), "1/1 CardInsufficientMemory"),
        (sgpu_card(used=(1, 0, 51)), ask(), "1/1 CardInsufficientCore"),
        (sgpu_card(used=(1, 0, 0)), ask(cores=100), "1/1 ExclusiveDeviceAllocateConflict"),
        (sgpu_card(used=(1, 0, 100)), ask(cores=0), "1/1 CardComputeUnitsExhausted"),
    ],
)
def test_a_card_is_refused_for_a_reason(state: CardUsage, request_: CardRequest, reason: str) -> None:
    """MXS-7, MXS-E17 to MXS-E21: cores are not clamped."""
    assert fit(state, request=request_) == ([], reason)


def test_another_vendors_request_is_no_match() -> None:
    """MXS-7, step 1."""
    assert fit(sgpu_card(), request=replace(ask(), type=VendorKey("x"))) == ([], "1/1 CardTypeMismatch")


@pytest.mark.parametrize(
    ("cards", "number", "reason"),
    [
        ([sgpu_card("a"), sgpu_card("b")], 3, "2/2 AllocatedCardsInsufficientRequest"),
        (
            [sgpu_card("a"), sgpu_card("b", used=(10, 0, 0))],
            2,
            "1/2 AllocatedCardsInsufficientRequest, 1/2 CardTimeSlicingExhausted",
        ),
    ],
)
def test_too_few_cards_are_counted(cards: list[CardUsage], number: int, reason: str) -> None:
    """MXS-E20."""
    assert fit(*cards, request=ask(number)) == ([], reason)


def test_id_lists_and_mutex_are_obeyed() -> None:
    """MXS-7, steps 5 and 7."""
    assert fit(sgpu_card(), annotations={"metax-tech.com/nouse-gpuuuid": "a"}) == ([], "1/1 CardUuidMismatch")
    busy = sgpu_card(used=(1, 0, 0))
    assert fit(busy, policy="spread,mutex") == ([], "1/1 ExclusiveDeviceAllocateConflict")


def test_memory_may_be_a_percentage() -> None:
    """MXS-E18."""
    result = SGPU.fit(make_context(), [sgpu_card()], ask(percent=33))
    assert result.allocations[0].mem_mib == 330


@pytest.mark.parametrize(
    ("cards", "number", "cores", "annotations", "taken"),
    [
        ("a1 b1 c2 d2 e2", 2, 100, {}, "ba"),
        ("a1 b1 c2 d2 e2", 4, 100, {}, "baed"),
        ("a0 b0 c1 d2 e2", 1, 100, {}, "c"),
        ("a0 b0 c1 d1 e1", 4, 100, {}, "edcb"),
        ("a1 b2 c2", 1, 100, {}, "a"),
        ("a1 b2 c2", 1, 99, {}, "c"),
        ("a1 b2 c2", 1, 100, {APP_CLASS: "offline"}, "c"),
        ("a1 b2 c2", 1, 100, {APP_CLASS: ""}, "c"),
        ("a1 b2 c2", 3, 100, {}, "cba"),
    ],
)
def test_whole_cards_are_chosen_by_their_links(
    cards: str, number: int, cores: int, annotations: dict[str, str], taken: str
) -> None:
    """MXS-10, MXS-E28 to MXS-E31."""
    found, _ = fit(*in_zones(cards), request=ask(number, cores=cores), annotations=annotations)
    assert found == list(taken)


@pytest.mark.parametrize(
    ("config", "annotation", "score"),
    [(False, "yes", 0.0), (False, "T", 600_000.0), (True, "0", 0.0), (True, None, 600_000.0)],
)
def test_pods_say_themselves_whether_links_weigh(config: bool, annotation: str | None, score: float) -> None:
    """MXS-2, MXS-E34, MXS-E37; VC-14: the score is weighed with 10,000."""
    one = OneNode(sgpu_backend(is_topology_aware=config), node=sgpu_node(1, 1, 1, 1))
    annotations = {} if annotation is None else {TOPOLOGY_AWARE: annotation}
    assert one.place(wants(2), annotations=annotations).score == score


@pytest.mark.parametrize(("policy", "sign"), [("binpack", 1), ("spread", -1), ("other", 1)])
def test_the_node_that_keeps_its_links_wins_under_every_policy(policy: str, sign: int) -> None:
    """MXS-E42."""
    backend = sgpu_backend(is_topology_aware=True)
    scores = [
        OneNode(backend, node=sgpu_node(*zones)).place(wants(2), node_policy=policy).score
        for zones in ((1, 1, 1, 1), (1, 1, 2, 2))
    ]
    assert scores == [sign * 600_000.0, sign * 1_000_000.0]


def test_parts_of_cards_have_no_links_to_weigh() -> None:
    """MXS-15, step 2."""
    one = OneNode(sgpu_backend(is_topology_aware=True), node=sgpu_node(1, 1))
    assert one.place(wants(2, gib=1, cores=50)).score == 0.0


def test_every_container_has_its_place_in_the_texts() -> None:
    """MXS-14, MXS-E45."""
    one = OneNode(SGPU, node=sgpu_node(0, 0, 0))
    one.place(make_container("none"), wants(2, gib=1, cores=10))
    text = ";A2,Metax-SGPU,1024,10:A1,Metax-SGPU,1024,10:;"
    assert one.written == {
        "hami.io/metax-sgpu-devices-allocated": text,
        "hami.io/metax-sgpu-devices-to-allocate": text,
        "metax-tech.com/gpu-devices-allocated": '[[],[{"uuid":"A2","compute":10,"vRam":1024},'
        '{"uuid":"A1","compute":10,"vRam":1024}]]',
        "metax-tech.com/predicate-time": "1700000000000000000",
    }
    assert set(one.written) == set(SGPU.written_keys)


def test_zeros_are_left_out_and_html_is_escaped() -> None:
    """MXS-14."""
    held = Allocation(CardId("<a&b>"), KEY, 0, 0)
    written = SGPU.annotations(make_pod(), ((held,),), now_ns=1)
    assert written["metax-tech.com/gpu-devices-allocated"] == '[[{"uuid":"\\u003ca\\u0026b\\u003e"}]]'


def test_what_a_quota_counts_differs_before_and_after() -> None:
    """MXS-16: a whole card asks for no memory, an online pod for all cores, and hold the reverse."""
    asked = SGPU.request(wants(1))
    assert asked is not None
    assert (asked.mem_mib, asked.cores) == (0, 100)
    one = OneNode(SGPU, node=sgpu_node(0))
    outcome = one.place(wants(1), annotations={APP_CLASS: "online"})
    assert outcome.devices is not None
    assert [(held.mem_mib, held.cores) for held in outcome.devices[KEY][0]] == [(65536, 0)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 16, 64]),
            st.sampled_from([0, 30, 100]),
            st.sampled_from(["", "online", "offline"]),
        ),
        max_size=15,
    )
)
def test_no_card_ever_gives_more_than_it_has(pods: list[tuple[int, int, str]]) -> None:
    one = OneNode(SGPU, node=sgpu_node(0, 0))
    for gib, cores, app_class in pods:
        before = one.usage
        annotations = {APP_CLASS: app_class} if app_class else {}
        if one.place(wants(1, gib=gib, cores=cores), annotations=annotations).devices is None:
            assert one.usage == before
    for card in one.usage.cards:
        assert card.mem_used_mib <= card.card.mem_mib
        assert card.cores_used <= 100
        assert card.shares_used <= card.card.shares
