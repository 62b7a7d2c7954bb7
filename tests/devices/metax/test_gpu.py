"""Metax GPUs given whole. Rules MX-1 to MX-11, cases MX-E01 to MX-E17."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, Container, Node, VendorKey
from scheduler_app.devices import metax
from scheduler_app.devices.metax.config import Config
from tests.devices.placing import OneNode
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

COUNT = "metax-tech.com/gpu"
LOSSES, SCORES = "metax-tech.com/gpu.topology.losses", "metax-tech.com/gpu.topology.scores"
KEY = VendorKey("Metax-GPU")
GPU, _ = metax.build(Config(resource_count_name=COUNT))
NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)


def card(id: str = "a", **values: object) -> CardUsage:
    return make_card(id=id, vendor=KEY, **{"shares": 1, "mem_mib": 65536, **values})  # type: ignore[arg-type]  # test data


def wants(cards: int) -> Container:
    return make_container(limits={COUNT: cards})


def node(cards: int, name: str = "n1") -> Node:
    return make_node(name, capacity={COUNT: str(cards)})


def fit(
    *cards: CardUsage, request: CardRequest | None = None, held: str = "", policy: str = "spread"
) -> tuple[list[tuple[str, int, int]], str]:
    """Return cards taken with memory and cores, and the reason; ``held`` is what an earlier container has."""
    given = {KEY: ((Allocation(CardId(held), KEY, 65536, 100),),)} if held else {}
    pod = make_pod(
        containers=(wants(1), wants(1)),
        annotations={"metax-tech.com/use-gpuuuid": "a"},
    )
    context = make_context(pod=pod, given=given, position=len(given), policy=policy)
    result = GPU.fit(context, cards, request or CardRequest(1, KEY, 0, 100, 100))
    return [(str(taken.card), taken.mem_mib, taken.cores) for taken in result.allocations], result.reason


def scored(text: str, cards: int, *, key: str = LOSSES, policy: str = "binpack") -> float:
    """Return the score of a node with a table, for a pod that was given so many cards."""
    taken = tuple(Allocation(CardId(f"c{n}"), KEY, 65536, 100) for n in range(cards))
    given = ScoreInput(make_node(annotations={key: text}), make_pod(), (taken, ()), (), policy)
    return GPU.score_node(given)


@pytest.mark.parametrize(
    ("resources", "number"),
    [
        ({"limits": {COUNT: 1}}, 1),
        ({"requests": {COUNT: 2}}, 2),
        ({"limits": {COUNT: 0}, "requests": {COUNT: 2}}, 0),
        ({"limits": {COUNT: "2000m"}}, None),
        ({"limits": {COUNT: "1500m"}}, None),
        ({"limits": {COUNT: "4294967297"}}, None),
        ({"limits": {COUNT: "1Ti"}}, None),
    ],
)
def test_a_request_is_a_number_of_cards(resources: dict[str, dict[str, object]], number: int | None) -> None:
    """MX-E01, MX-E02, except that nothing wraps around at 32 bits."""
    asked = GPU.request(make_container(**resources))
    assert asked == (None if number is None else CardRequest(number, KEY, 0, 100, 100))


@pytest.mark.parametrize("text", ["1", "0", "-1", "1500m"])
def test_every_count_in_the_limits_makes_a_pod_ours(text: str) -> None:
    """MX-4."""
    draft = make_draft(limits={COUNT: text})
    assert GPU.mutate(draft, draft.pod) is True
    assert draft.pod.operations == []


def test_what_would_wrap_around_is_refused_at_admission() -> None:
    """Architecture, section 7."""
    draft = make_draft(limits={COUNT: "2147483648"})
    with pytest.raises(AdmissionError, match=f"invalid {COUNT} value 2147483648 in container main"):
        GPU.mutate(draft, draft.pod)


def test_cards_come_from_capacity() -> None:
    """MX-E03, MX-E04."""
    found = GPU.node_cards(node(2))
    assert [card.id for card in found] == ["n1-metax-0", "n1-metax-1"]
    assert all((card.shares, card.mem_mib, card.cores, card.numa) == (1, 65536, 100, 0) for card in found)
    assert GPU.node_cards(node(-2)) == ()
    assert GPU.health(node(2), now=NOON).healthy is True
    assert GPU.health(node(-2), now=NOON).healthy is False


@pytest.mark.parametrize(
    ("text", "cards", "score"),
    [
        ('{"1":0,"2":110,"4":540}', 2, 1890.0),
        ('{"1":0,"2":110,"4":540}', 3, 2000.0),
        ('{"1":0,"2":110,"4":540}', 1, 2000.0),
        ('{"2":-50}', 2, 2050.0),
        ('{"2":3000}', 2, -1000.0),
        ('{"02":9}', 2, 1991.0),
        ('{"2":1,"2":8}', 2, 1992.0),
        ('{"1":100,"2":200}', 2, 1800.0),
        ('{"2":null}', 2, 2000.0),
        ("junk", 2, 2000.0),
        ('{"2":1.5}', 2, 2000.0),
        ('{"2":"7"}', 2, 2000.0),
        ('{"2":true}', 2, 2000.0),
        ('{"x":1,"2":7}', 2, 2000.0),
        ('{"2":99999999999999999999}', 2, 2000.0),
        ("[]", 2, 2000.0),
        ("null", 2, 2000.0),
        ("", 2, 2000.0),
    ],
)
def test_a_node_scores_by_its_table_of_losses(text: str, cards: int, score: float) -> None:
    """MX-E05, MX-E07 to MX-E09."""
    assert scored(text, cards) == score


@pytest.mark.parametrize(
    ("key", "policy", "score"),
    [
        (LOSSES, "spread", 0.0),
        (SCORES, "spread", 1890.0),
        (SCORES, "binpack", 0.0),
        (LOSSES, "", 0.0),
        (LOSSES, "numa", 0.0),
    ],
)
def test_each_policy_has_its_own_table(key: str, policy: str, score: float) -> None:
    """MX-E06."""
    assert scored('{"2":110}', 2, key=key, policy=policy) == score
    assert GPU.is_policy_neutral is False


def test_nodes_with_different_tables_are_different() -> None:
    """MX-9: a table can decide between two nodes that are equal otherwise."""
    plain, marked = node(2), make_node("n2", annotations={LOSSES: '{"2":110}'})
    assert GPU.node_traits(plain, ()) != GPU.node_traits(marked, ())


def test_of_two_nodes_the_one_that_loses_less_scores_higher() -> None:
    """MX-E10."""
    outcomes = [
        OneNode(GPU, node=make_node(name, capacity={COUNT: "4"}, annotations={LOSSES: text})).place(wants(2))
        for name, text in (("n1", '{"2":110}'), ("n2", '{"2":5}'))
    ]
    assert [outcome.score for outcome in outcomes] == [1890.0, 1995.0]


def test_a_pod_is_handed_its_cards_from_the_last() -> None:
    """MX-E10, MX-E16, MX-10."""
    one = OneNode(GPU, node=node(4))
    one.place(make_container("none"), wants(2))
    text = ";n1-metax-3,Metax-GPU,65536,100:n1-metax-2,Metax-GPU,65536,100:;"
    assert one.written == {
        "hami.io/metax-gpu-devices-allocated": text,
        "hami.io/metax-gpu-devices-to-allocate": text,
    }


def test_only_one_app_container_can_own_cards() -> None:
    """MX-E11, MX-7 [quirk]."""
    refused = OneNode(GPU, node=node(4)).place(wants(1), wants(1))
    assert refused.reason == "1/4 CardTimeSlicingExhausted, 3/4 CardNotFoundCustomFilterRule"


def test_an_init_container_may_use_the_card_of_the_app() -> None:
    """MX-E12."""
    one = OneNode(GPU, node=node(4))
    one.place(wants(2))
    outcome = one.place(wants(1), init=(wants(1),))
    assert one.taken(outcome, KEY) == [["n1-metax-1"], ["n1-metax-1"]]


def test_init_containers_are_judged_among_themselves() -> None:
    """MX-E13."""
    refused = OneNode(GPU, node=node(4)).place(wants(1), init=(wants(2), wants(1)))
    assert refused.reason == "4/4 CardNotFoundCustomFilterRule"


def test_a_sidecar_is_judged_with_the_app_containers() -> None:
    """Q-23: it runs beside them."""
    sidecar = Container("side", limits={COUNT: "1"}, restarts_always=True)
    refused = OneNode(GPU, node=node(4)).place(wants(1), init=(sidecar,))
    assert refused.reason == "1/4 CardTimeSlicingExhausted, 3/4 CardNotFoundCustomFilterRule"


@pytest.mark.parametrize(
    ("held", "number", "taken", "reason"),
    [
        ("a", 1, ["a"], ""),
        ("a", 2, [], "1/2 AllocatedCardsInsufficientRequest, 1/2 CardNotFoundCustomFilterRule"),
        ("z", 1, [], "2/2 CardNotFoundCustomFilterRule"),
        ("", 1, ["b"], ""),
    ],
)
def test_a_second_container_gets_the_card_of_the_first_or_none(
    held: str, number: int, taken: list[str], reason: str
) -> None:
    """MX-E14; MX-E15: the id list in the pod is not obeyed."""
    found, why = fit(card("a"), card("b"), request=CardRequest(number, KEY, 0, 100, 100), held=held)
    assert ([name for name, _, _ in found], why) == (taken, reason)


@pytest.mark.parametrize(
    ("state", "request_", "outcome"),
    [
        (card(), CardRequest(1, KEY, 0, 100, 120), ([("a", 65536, 100)], "")),
        (
            card(shares=2, used=(1, 0, 20)),
            CardRequest(1, KEY, 1, 0, 100),
            ([], "1/1 CardInsufficientCore"),
        ),
        (
            card(shares=2, used=(1, 0, 0)),
            CardRequest(1, KEY, 1, 0, 100),
            ([], "1/1 ExclusiveDeviceAllocateConflict"),
        ),
        (card(mem_mib=1280), CardRequest(1, KEY, 0, 10, 0), ([("a", 128, 0)], "")),
        (card(healthy=False), CardRequest(1, KEY, 0, 100, 100), ([], "1/1 CardNotHealth")),
        (card(used=(1, 0, 0)), CardRequest(1, KEY, 0, 100, 100), ([], "1/1 CardTimeSlicingExhausted")),
        (card(), CardRequest(1, VendorKey("x"), 0, 100, 100), ([], "1/1 CardTypeMismatch")),
    ],
)
def test_the_common_steps_hold(
    state: CardUsage, request_: CardRequest, outcome: tuple[list[tuple[str, int, int]], str]
) -> None:
    """MX-6, MX-E17."""
    assert fit(state, request=request_) == outcome


@given(st.lists(st.integers(1, 3), max_size=6))
def test_no_card_goes_to_two_pods(numbers: list[int]) -> None:
    one = OneNode(GPU, node=node(5))
    for number in numbers:
        before = one.usage
        if one.place(wants(number)).devices is None:
            assert one.usage == before
    assert all(card.shares_used <= 1 for card in one.usage.cards)
    assert all(card.mem_used_mib <= card.card.mem_mib for card in one.usage.cards)
