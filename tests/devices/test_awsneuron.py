"""AWS Neuron: cores by mask, several cards as neighbours. Rules NEU-1 to NEU-7, cases NEU-E01 to NEU-E29."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.errors import AdmissionError, CodecError
from scheduler_app.core.types import CardRequest, CardUsage, Node
from scheduler_app.devices import awsneuron
from tests.devices.neuron import CORES, COUNT, backend, node
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod


def ask(number: int = 1, cores: int = 2) -> CardRequest:
    return CardRequest(number, awsneuron.KEY, cores=cores)


def card(id: str = "a", mask: int = 0, *, total: int = 3, used: int = 0, **values: object) -> CardUsage:
    """Return a card with the cores of ``mask`` given away in ``used`` shares."""
    values = {"shares": 2, "mem_mib": 0, "cores": total, **values}
    return make_card(id=id, vendor="AWSNeuron", used=(used, 0, mask), **values)  # type: ignore[arg-type]  # test data


def row(number: int, *, kind: str, used: Iterable[int] = ()) -> list[CardUsage]:
    """Return ``number`` cards in order, those of ``used`` with one core given away."""
    custom = {"AWSNodeType": kind}
    busy = set(used)
    return [
        card(str(n), 1 if n in busy else 0, used=1 if n in busy else 0, index=n, custom=custom)
        for n in range(number)
    ]


def fit(
    cards: Sequence[CardUsage],
    request: CardRequest,
    *,
    policy: str = "spread",
    annotations: Mapping[str, str] | None = None,
) -> tuple[list[tuple[str, int]], str]:
    """Return id and mask of each card taken, and the reason text."""
    context = make_context(pod=make_pod(annotations=annotations or {}), policy=policy)
    result = backend().fit(context, cards, request)
    return [(taken.card, taken.cores) for taken in result.allocations], result.reason


# Requests and admission


@pytest.mark.parametrize(
    ("case", "per_card", "resources", "asked"),
    [
        ("NEU-E01", 2, {"limits": {COUNT: 2}}, ask(2)),
        ("NEU-E01", 2, {"requests": {COUNT: 2}}, ask(2)),
        ("NEU-E03", 0, {"limits": {COUNT: 1}}, ask(1, 0)),
        ("NEU-E03", 1, {"limits": {COUNT: 1}}, ask(1, 1)),
        ("NEU-E03", 4, {"limits": {COUNT: 1}}, ask(1, 4)),
        ("NEU-E04", 2, {"limits": {CORES: 1}}, ask(1, 1)),
        ("NEU-E04", 2, {"limits": {CORES: 2}}, ask(1, 2)),
        ("NEU-E04", 2, {"limits": {CORES: 6}}, ask(3, 2)),
        ("NEU-E06", 1, {"limits": {CORES: 3}}, ask(3, 1)),
        ("NEU-E06", 4, {"limits": {CORES: 4}}, ask(2, 2)),
        ("NEU-E06", 0, {"limits": {CORES: 4}}, ask(2, 2)),
        ("NEU-E09", 2, {"limits": {COUNT: 2, CORES: 3}}, ask(2)),
        ("NEU-E09", 2, {"limits": {CORES: 2}, "requests": {COUNT: 1}}, ask(1)),
    ],
)
def test_cards_or_else_cores_are_asked_for(
    case: str, per_card: int, resources: dict[str, dict[str, object]], asked: CardRequest
) -> None:
    """NEU-4."""
    neuron = backend(per_card)
    assert neuron.request(make_container(**resources)) == asked, case
    draft = make_draft(**resources)
    assert neuron.mutate(draft, draft.pod) is True, case
    assert draft.pod.operations == []


@pytest.mark.parametrize(
    ("case", "per_card", "limits", "message"),
    [
        ("NEU-E02", 2, {COUNT: 0}, f"{COUNT} must be greater than 0"),
        ("NEU-E02", 2, {COUNT: -1}, f"{COUNT} must be greater than 0"),
        ("NEU-E02", 2, {COUNT: "1500m"}, f"{COUNT} must be an integer"),
        ("NEU-E02", 2, {COUNT: "2000m"}, f"{COUNT} must be an integer"),
        ("NEU-E02", 2, {COUNT: 2**31}, f"{COUNT} must not exceed 2147483647"),
        ("NEU-E05", 2, {CORES: 3}, f"{CORES} must be 1 or a multiple of 2, got 3"),
        ("NEU-E07", 2, {CORES: -2}, f"{CORES} must be greater than 0"),
        ("NEU-E07", 2, {CORES: 4294967295}, f"{CORES} must not exceed 4294967294"),
        (
            "NEU-E07",
            1,
            {CORES: 2**31},
            f"{CORES} needs 2147483648 devices, which exceeds the maximum of 2147483647",
        ),
        ("NEU-E08", 2, {COUNT: 0, CORES: 2}, f"{COUNT} must be greater than 0"),
    ],
)
def test_impossible_amounts_are_refused(
    case: str, per_card: int, limits: dict[str, object], message: str
) -> None:
    """NEU-4: and ask for nothing, should the pod come past admission."""
    neuron, draft = backend(per_card), make_draft(limits=limits)
    with pytest.raises(AdmissionError) as raised:
        neuron.mutate(draft, draft.pod)
    assert str(raised.value) == message, case
    assert neuron.request(make_container(limits=limits)) is None


def test_other_containers_are_not_ours() -> None:
    """NEU-4."""
    draft = make_draft(limits={"cpu": 1})
    assert backend().mutate(draft, draft.pod) is False
    assert backend().request(make_container(limits={"cpu": 1})) is None


def test_quota_counts_cores_only() -> None:
    """NEU-1."""
    assert backend().names == ResourceNames(COUNT, "", CORES, 0)


# Nodes


def test_cards_know_their_machine() -> None:
    """NEU-E10."""
    first, second = backend(0).node_cards(node(2, 4, name="a"))
    assert (first.id, second.id) == ("a-AWSNeuron-0", "a-AWSNeuron-1")
    assert (second.index, second.shares, second.cores, second.mem_mib) == (1, 2, 3, 0)
    assert second.custom == {"AWSNodeType": "inf2.24xlarge"}


@pytest.mark.parametrize(
    ("cards", "cores", "shares", "mask"), [(2, 5, 2, 3), (1, 4, 4, 15), (1, 8, 8, 255), (2, None, 0, 0)]
)
def test_cores_of_a_card_are_a_mask(cards: int, cores: int | None, shares: int, mask: int) -> None:
    """NEU-E11."""
    first, *_ = backend(0).node_cards(node(cards, cores))
    assert (first.shares, first.cores) == (shares, mask)


def test_the_first_node_speaks_for_all() -> None:
    """NEU-2, NEU-E12."""
    (only,) = backend(4).node_cards(node(1, 2))
    assert (only.shares, only.cores) == (4, 15)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (node(0, 2), f"device not found {COUNT}"),
        (make_node(), f"device not found {COUNT}"),
        (node(1, 32), "32 cores a card, expected at most 31"),
        (node(10**9, 1), "1000000000 cards"),
    ],
)
def test_a_node_without_usable_cards_says_why(given: Node, message: str) -> None:
    """NEU-E13; more cores than a mask holds, more cards than a node."""
    with pytest.raises(CodecError, match=message):
        backend(0).node_cards(given)


def test_negative_capacity_is_no_cards_and_teaches_nothing() -> None:
    """NEU-E13."""
    neuron = backend(0)
    assert neuron.node_cards(node(-1, 2)) == ()
    assert neuron.cores_per_card == 0


def test_a_node_is_always_healthy_and_never_locked_or_cleaned() -> None:
    """NEU-3."""
    health = backend().health(make_node(), now=datetime(2026, 1, 2))  # noqa: DTZ001  (stamps carry no zone)
    assert (health.healthy, health.needs_update, health.stamp) == (True, True, False)
    assert backend().node_lock is None
    assert backend().cleanup_keys == ()


# One card


@pytest.mark.parametrize(
    ("case", "mask", "total", "cores", "given"),
    [
        ("NEU-E14", 0, 3, 1, 1),
        ("NEU-E14", 1, 3, 1, 2),
        ("NEU-E14", 2, 3, 1, 1),
        ("NEU-E15", 0, 3, 2, 3),
        ("NEU-E16", 0, 15, 4, 3),
        ("NEU-E16", 3, 15, 1, 0),
        ("NEU-E16", 1, 15, 2, 2),
        ("NEU-E17", 0, 3, 0, 3),
    ],
)
def test_free_cores_are_given_as_a_mask(case: str, mask: int, total: int, cores: int, given: int) -> None:
    """NEU-6: which knows cards of two cores only."""
    assert fit([card(mask=mask, total=total)], ask(1, cores)) == ([("a", given)], ""), case


@pytest.mark.parametrize(
    ("case", "cards", "cores", "reason"),
    [
        ("NEU-E14", [card(mask=3)], 1, "1/1 CardInsufficientCore"),
        ("NEU-E15", [card(mask=1)], 2, "1/1 CardInsufficientCore"),
        ("NEU-E16", [card(total=15)], 8, "1/1 CardInsufficientCore"),
        ("NEU-E19", [card(used=2)], 1, "1/1 CardTimeSlicingExhausted"),
        ("NEU-E19", [card(healthy=False)], 1, "1/1 CardNotHealth"),
        ("NEU-6", [card(type="awsneuron")], 1, "1/1 CardTypeMismatch"),
        (
            "NEU-E20",
            [card("a", 3, used=2), card("b", 1, used=1), card("c", 2, used=1)],
            2,
            "1/3 CardTimeSlicingExhausted, 2/3 CardInsufficientCore",
        ),
    ],
)
def test_a_card_is_refused_for_a_reason(case: str, cards: list[CardUsage], cores: int, reason: str) -> None:
    assert fit(cards, ask(1, cores)) == ([], reason), case


def test_ids_and_neighbours_matter_to_one_card() -> None:
    """NEU-E18, NEU-E19."""
    cards = [card("a"), card("b")]
    assert fit(cards, ask()) == ([("b", 3)], "")
    assert fit(cards, ask(), annotations={"aws.amazon.com/use-neuron-uuid": "a"}) == ([("a", 3)], "")
    unwanted = {"aws.amazon.com/nouse-neuron-uuid": "a"}
    assert fit([card("a")], ask(), annotations=unwanted) == ([], "1/1 CardUuidMismatch")
    busy = [card(mask=1, used=1)]
    assert fit(busy, ask(1, 1), policy="mutex") == ([], "1/1 ExclusiveDeviceAllocateConflict")


# Several cards


@pytest.mark.parametrize(
    ("case", "kind", "length", "used", "number", "first"),
    [
        ("NEU-E21", "inf2.24xlarge", 12, [1], 3, 2),
        ("NEU-E23", "trn1.32xlarge", 16, [1], 4, 4),
        ("NEU-E23", "trn1.32xlarge", 16, [7], 8, 8),
        ("NEU-E24", "inf1", 16, [5, 14], 8, 6),
        ("NEU-E28", "inf2", 4, [1], 2, 2),
    ],
)
def test_several_cards_are_neighbours(
    case: str, kind: str, length: int, used: list[int], number: int, first: int
) -> None:
    """NEU-5: each with all its cores."""
    expected = [(str(n), 3) for n in range(first, first + number)]
    assert fit(row(length, kind=kind, used=used), ask(number)) == (expected, ""), case


@pytest.mark.parametrize(
    ("case", "kind", "length", "used", "number"),
    [
        ("NEU-E22", "INF2", 4, [], 2),
        ("NEU-E22", "trn1", 4, [], 3),
        ("NEU-E23", "trn1", 16, [1, 5, 9, 13], 4),
        ("NEU-E23", "trn1", 16, [7, 13], 8),
        ("NEU-E25", "trn1", 6, [0], 4),
        ("NEU-5", "", 4, [], 2),
    ],
)
def test_there_may_be_no_window(case: str, kind: str, length: int, used: list[int], number: int) -> None:
    assert fit(row(length, kind=kind, used=used), ask(number)) == ([], f"1/{length} NumaNotFit"), case


def test_an_unhealthy_card_breaks_a_window() -> None:
    """NEU-5."""
    cards = row(4, kind="inf2")
    cards[1] = replace(cards[1], healthy=False)
    assert fit(cards, ask(2)) == ([("2", 3), ("3", 3)], "")


def test_ids_do_not_matter_to_several_cards() -> None:
    """NEU-E26."""
    wanted = {"aws.amazon.com/use-neuron-uuid": "zz"}
    assert fit(row(2, kind="inf2"), ask(2), annotations=wanted)[1] == ""


def test_places_are_taken_for_numbers() -> None:
    """NEU-5, NEU-E27: "mutex" has put the used card first, and so it is handed out."""
    cards = row(4, kind="inf2", used=[1])
    reordered = [cards[1], cards[0], cards[2], cards[3]]
    assert fit(reordered, ask(2), policy="mutex") == ([("1", 3), ("2", 3)], "")
    assert fit([*row(1, kind="inf2"), *reordered[2:]], ask(2)) == ([("0", 3)], "")  # there is no number 1
