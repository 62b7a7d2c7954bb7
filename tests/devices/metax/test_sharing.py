"""Who shares a Metax card with whom. Rules MXS-4, MXS-8, MXS-9, MXS-11, MXS-14, MXS-17, MXS-19."""

from dataclasses import replace

import pytest

from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, CardId, CardUsage
from tests.devices.metax.cards import (
    APP_CLASS,
    KEY,
    QOS,
    SGPU,
    ask,
    fit,
    sgpu_card,
    sgpu_node,
    used_by,
    wants,
)
from tests.devices.placing import OneNode
from tests.factories import make_context, make_node, make_pod

BEST_EFFORT, FIXED_SHARE = {QOS: "best-effort"}, {QOS: "fixed-share"}


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


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        ("metax-tech.com/sgpu-app-class", "online", "1/1 CardAppClassMismatch"),
        ("metax-tech.com/sgpu-app-class", "offline", "1/1 CardAppClassMismatch"),
        ("metax-tech.com/sgpu-qos-policy", "burst-share", "1/1 CardQosPolicyMismatch"),
        ("metax-tech.com/use-gpuuuid", "b", "1/1 CardUuidMismatch"),
        ("metax-tech.com/nouse-gpuuuid", "a", "1/1 CardUuidMismatch"),
        ("metax-tech.com/use-gputype", "other", ""),
    ],
)
def test_annotations_are_read_under_these_names(key: str, text: str, reason: str) -> None:
    """MXS-2: each alone decides about a card that the pod would have had without it."""
    busy = used_by("", qos="best-effort")
    assert fit(busy, annotations=BEST_EFFORT) == (["a"], "")
    assert fit(busy, annotations={**BEST_EFFORT, key: text}) == ([] if reason else ["a"], reason)


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


def test_the_expected_policy_holds_until_the_node_reports_it() -> None:
    """MXS-E43: then the report is what counts, whatever pods are on the card."""
    one = OneNode(SGPU, node=sgpu_node(0, 0, 0, 0))
    part, pinned = wants(1, gib=4, cores=30), {"metax-tech.com/use-gpuuuid": "A3"}
    assert one.place(part, annotations=BEST_EFFORT | pinned).devices
    for report in ("", "best-effort"):
        one.register(sgpu_node(0, 0, 0, 0, qos=report))
        refused = one.place(part, annotations=FIXED_SHARE | pinned)
        assert refused.reason == "1/4 CardQosPolicyMismatch, 3/4 CardUuidMismatch"
    one.register(sgpu_node(0, 0, 0, 0, qos="fixed-share"))
    assert one.place(part, annotations=FIXED_SHARE | pinned).devices


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
