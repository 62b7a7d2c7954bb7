"""Shared Metax cards. Rules MXS-1 to MXS-19, cases MXS-E14 to MXS-E45."""

import json
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, VendorKey
from tests.devices.metax.cards import (
    APP_CLASS,
    KEY,
    QOS,
    REGISTER,
    SGPU,
    TOPOLOGY_AWARE,
    sgpu_backend,
    sgpu_card,
    sgpu_node,
    wants,
)
from tests.devices.placing import OneNode
from tests.factories import make_container, make_context, make_node, make_pod

NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)
BEST_EFFORT, FIXED_SHARE = {QOS: "best-effort"}, {QOS: "fixed-share"}


def ask(cards: int = 1, *, mem: int = 0, percent: int = 0, cores: int = 50) -> CardRequest:
    return CardRequest(cards, KEY, mem, percent, cores)


def fit(
    *cards: CardUsage,
    request: CardRequest | None = None,
    annotations: dict[str, str] | None = None,
    policy: str = "spread",
) -> tuple[list[str], str]:
    """Return the ids of the cards taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}), policy=policy)
    result = SGPU.fit(context, cards, request or ask())
    return [str(held.card) for held in result.allocations], result.reason


def in_zones(text: str) -> list[CardUsage]:
    """Return idle cards from ``"a1 b2"``: a letter and a link zone."""
    return [sgpu_card(word[0], zone=int(word[1:])) for word in text.split()]


def used_by(*marks: str, id: str = "a", qos: str = "") -> CardUsage:
    """Return a card in use by pods of these classes."""
    return sgpu_card(id, marks=tuple(sorted(marks)), used=(max(len(marks), 1), 0, 0), qos=qos)


def test_a_nodes_cards_are_read_in_order() -> None:
    """MXS-E14."""
    text = json.dumps(
        [
            {
                "uuid": "GPU-1",
                "totalDevCount": 16,
                "totalCompute": 100,
                "totalVRam": 65536,
                "numa": 1,
                "healthy": True,
                "qosPolicy": "fixed-share",
                "linkZone": 2,
            },
            {"UUID": "GPU-2"},
        ]
    )
    first, second = SGPU.node_cards(make_node(annotations={REGISTER: text}))
    assert (first.id, first.index, first.shares, first.cores, first.mem_mib) == ("GPU-1", 0, 16, 100, 65536)
    assert first.custom == {"QosPolicy": "fixed-share", "Model": "", "LinkZone": 2}
    assert (second.id, second.index, second.shares, second.healthy) == ("GPU-2", 1, 0, False)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (None, CodecError, f"annos not found {REGISTER}"),
        ("[]", EmptyRegistrationError, "no sdevice found on node"),
        ("null", EmptyRegistrationError, "no sdevice found on node"),
        ("", CodecError, "not JSON"),
        ("{}", CodecError, "expected an array of devices"),
        ("[null]", CodecError, r"\[0\]: expected an object"),
        ('[{"totalVRam":1.5}]', CodecError, "whole number"),
        ('[{"totalVRam":"5"}]', CodecError, "whole number"),
        ('[{"totalVRam":2147483648}]', CodecError, "out of range"),
        ('[{"availableVRam":"5"}]', CodecError, "whole number"),
        ('[{"bdf":5}]', CodecError, "expected a text"),
    ],
)
def test_a_node_without_cards_says_why(text: str | None, kind: type[CodecError], message: str) -> None:
    """MXS-E15; a null element is an error (Q-50)."""
    node = make_node(annotations={} if text is None else {REGISTER: text})
    with pytest.raises(kind, match=message):
        SGPU.node_cards(node)
    health = SGPU.health(node, now=NOON)
    assert (health.healthy, health.needs_update, health.stamp) == (False, True, False)


def test_a_node_with_cards_is_healthy() -> None:
    """MXS-4."""
    assert SGPU.health(sgpu_node(0), now=NOON).healthy is True
    assert SGPU.cleanup_keys == ()


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
    ("marks", "wanted", "fits"),
    [
        (("",), None, True),
        (("",), "online", False),
        (("",), "offline", False),
        (("",), "weird", True),
        (("online",), None, False),
        (("online",), "online", True),
        (("online",), "offline", False),
        (("offline", ""), None, False),
        (("offline", ""), "online", True),
        (("offline",), "offline", True),
        (("online", "offline"), "online", True),
        (("online", "offline"), "offline", False),
    ],
)
def test_classes_share_cards_among_themselves(marks: tuple[str, ...], wanted: str | None, fits: bool) -> None:
    """MXS-E23 to MXS-E26; MXS-8: a class that does not exist is none."""
    annotations = {} if wanted is None else {APP_CLASS: wanted}
    expected = (["a"], "") if fits else ([], "1/1 CardAppClassMismatch")
    assert fit(used_by(*marks), annotations=annotations) == expected


@pytest.mark.parametrize(("text", "mark"), [("online", "online"), ("offline", "offline"), ("weird", "")])
def test_a_pod_leaves_its_class_on_its_cards(text: str, mark: str) -> None:
    """MXS-8."""
    assert SGPU.pod_mark(make_pod(annotations={APP_CLASS: text})) == mark
    assert SGPU.pod_mark(make_pod()) == ""


def test_an_online_pod_takes_no_cores() -> None:
    """MXS-E17, MXS-E27."""
    full = sgpu_card(used=(1, 0, 100), marks=("online",))
    context = make_context(pod=make_pod(annotations={APP_CLASS: "online"}))
    for card in (full, sgpu_card()):
        (held,) = SGPU.fit(context, [card], ask(cores=120)).allocations
        assert (held.cores, held.expects) == (0, None)


@pytest.mark.parametrize(
    ("annotations", "state", "cores", "reason"),
    [
        (FIXED_SHARE, used_by("", qos="best-effort"), 50, "1/1 CardQosPolicyMismatch"),
        (FIXED_SHARE, used_by("", qos="best-effort"), 100, "1/1 ExclusiveDeviceAllocateConflict"),
        (FIXED_SHARE, sgpu_card(qos="best-effort"), 50, ""),
        (FIXED_SHARE, used_by("", qos=""), 50, ""),
        ({}, used_by("", qos="best-effort"), 50, "1/1 CardQosPolicyMismatch"),
        (BEST_EFFORT, used_by("", qos="best-effort"), 50, ""),
        (
            BEST_EFFORT,
            replace(used_by("", qos="best-effort"), expected="fixed-share"),
            50,
            "1/1 CardQosPolicyMismatch",
        ),
        (FIXED_SHARE, replace(used_by("", qos="best-effort"), expected="fixed-share"), 50, ""),
        (FIXED_SHARE, replace(used_by("", qos="best-effort"), expected=""), 50, ""),
    ],
)
def test_pods_on_one_card_have_one_policy(
    annotations: dict[str, str], state: CardUsage, cores: int, reason: str
) -> None:
    """MXS-9, MXS-E21, MXS-E22: what is expected of a card goes before what its node reports."""
    assert fit(state, request=ask(cores=cores), annotations=annotations) == ([] if reason else ["a"], reason)


@pytest.mark.parametrize(
    ("reported", "cores", "expects"),
    [
        ("", 30, "best-effort"),
        ("best-effort", 30, None),
        ("fixed-share", 30, "best-effort"),
        ("best-effort", 100, ""),
        ("", 100, None),
    ],
)
def test_a_decision_says_what_policy_it_expects_where_it_changes(
    reported: str, cores: int, expects: str | None
) -> None:
    """MXS-14: a pod that has all of a card leaves it without policy."""
    context = make_context(pod=make_pod(annotations=BEST_EFFORT))
    (held,) = SGPU.fit(context, [sgpu_card(qos=reported)], ask(cores=cores)).allocations
    assert held.expects == expects


def test_the_expectation_ends_when_the_node_reports_it() -> None:
    """MXS-4, MXS-E43."""
    (card,) = SGPU.node_cards(sgpu_node(0, qos="best-effort"))
    assert SGPU.confirms(card, "best-effort") is True
    assert SGPU.confirms(card, "") is False


def test_a_pods_next_container_sees_the_policy_of_the_first() -> None:
    """MXS-19."""
    idle, held = sgpu_card(qos="fixed-share"), Allocation(CardId("a"), KEY, 10, 30)
    shared, _ = SGPU.add_usage(idle, held, make_pod(annotations=BEST_EFFORT))
    assert (shared.custom["QosPolicy"], shared.shares_used) == ("best-effort", 1)
    whole, _ = SGPU.add_usage(idle, replace(held, cores=100), make_pod(annotations=BEST_EFFORT))
    assert whole.custom["QosPolicy"] == ""
    online, _ = SGPU.add_usage(idle, held, make_pod(annotations={APP_CLASS: "online"}))
    assert online.custom["QosPolicy"] == "fixed-share"
    assert idle.custom["QosPolicy"] == "fixed-share"


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
    ("first", "second", "taken"),
    [
        (("online",), None, "b"),
        (("offline",), ("online",), "b"),
        (("online", "offline", "offline"), ("online", "online"), "a"),
        (("offline",), ("offline", "offline"), "a"),
        (("online", "online", "online"), ("offline",), "a"),
    ],
)
def test_an_online_pod_goes_where_few_others_are(
    first: tuple[str, ...], second: tuple[str, ...] | None, taken: str
) -> None:
    """MXS-11, MXS-E33."""
    other = sgpu_card("b") if second is None else used_by(*second, id="b")
    found, _ = fit(used_by(*first), other, annotations={APP_CLASS: "online"})
    assert found == [taken]


def test_both_containers_of_a_class_need_a_card_of_their_own() -> None:
    """MXS-E44, MXS-17 [quirk]."""
    one = OneNode(SGPU, node=sgpu_node(0, 0, 0, 0))
    for index in range(3):
        one.place(wants(1, gib=1, cores=10), annotations={"metax-tech.com/use-gpuuuid": f"A{index}"})
    online = wants(1, gib=1, cores=10)
    refused = one.place(online, online, annotations={APP_CLASS: "online"})
    assert refused.reason == "4/4 CardAppClassMismatch"


@pytest.mark.parametrize(
    ("config", "annotation", "score"),
    [(False, "yes", 0.0), (False, "T", 600_000.0), (True, "0", 0.0), (True, None, 600_000.0)],
)
def test_pods_say_themselves_whether_links_weigh(config: bool, annotation: str | None, score: float) -> None:
    """MXS-E34, MXS-E37; VC-14: the score is weighed with 10,000."""
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


@pytest.mark.parametrize(
    ("marks", "score"),
    [
        ((), 0.0),
        (("online", "online"), -40.0),
        (("offline", "offline"), -200.0),
        (("online", "online", "offline", "offline"), -44.0),
    ],
)
def test_an_online_pod_scores_by_its_neighbours(marks: tuple[str, ...], score: float) -> None:
    """MXS-E41: cards that it was not given do not count."""
    taken = ((Allocation(CardId("a"), KEY, 10, 0),), (Allocation(CardId("a"), KEY, 10, 0),))
    pod = make_pod(annotations={APP_CLASS: "online"})
    cards = [used_by(*marks), used_by("offline", id="b")]
    assert SGPU.score_node(ScoreInput(make_node(), pod, taken, cards, "binpack")) == score
    assert SGPU.is_policy_neutral is True


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
