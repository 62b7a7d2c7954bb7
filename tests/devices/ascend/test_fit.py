"""Which Ascend cards a container gets, and how well they lie together."""

import json
from dataclasses import replace
from typing import Any

import pytest

from scheduler_app.core.fit import FitContext, FitResult
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, VendorKey
from scheduler_app.devices.ascend.config import Chip
from tests.devices.ascend.chips import CHIP_A, CHIP_B3, CHIP_B4, CHIP_C, CHIP_P, make_ascend
from tests.devices.placing import OneNode
from tests.factories import make_card, make_container, make_context, make_node, make_pod

WITHOUT = "NodeInsufficientDevice"
SOFT = {"huawei.com/vnpu-mode": "hami-core"}


def cards(chip: Chip, count: int, *, networks: tuple[object, ...] = (), **card: Any) -> list[CardUsage]:
    """Return ``d0``, ``d1`` … of 20 AI cores, with indices; ``networks`` are network ids, "-" for none."""
    return [
        make_card(
            **{
                "id": f"d{n}",
                "vendor": chip.common_word,
                "index": n,
                "mem_mib": chip.memory_allocatable,
                "cores": 20,
                "custom": {"NetworkID": networks[n]} if networks and networks[n] != "-" else {},
                **card,
            }
        )
        for n in range(count)
    ]


def fit(
    chip: Chip, candidates: list[CardUsage], count: int, context: FitContext | None = None, **request: int
) -> FitResult:
    asked = CardRequest(count, VendorKey(chip.common_word), **{"mem_mib": 100, **request})
    return make_ascend(chip).fit(context or make_context(), candidates, asked)


def taken(result: FitResult) -> list[str]:
    assert result.is_fit, result.reason
    return [allocation.card for allocation in result.allocations]


def test_cards_without_network_are_taken_from_the_last() -> None:
    """ASC-42, ASC-E34."""
    assert taken(fit(CHIP_B3, cards(CHIP_B3, 4), 2)) == ["d3", "d2"]


@pytest.mark.parametrize(
    ("networks", "count", "expected"),
    [
        ((0, 1, 1, 1), 2, ["d3", "d2"]),  # ASC-E35
        ((0, 0, 1, 1, 2), 2, ["d3", "d2"]),  # ASC-E36
        ((0, 0, 1, 1), 3, ["d3", "d2", "d1"]),  # ASC-E37
        ((0, 1, 2, 3), 1, ["d3"]),  # ASC-E38
        (("a", "a", "a"), 2, []),  # ASC-E40: texts are no numbers
        (("a", "a"), 2, ["d1", "d0"]),  # ASC-E40: as many as asked, nothing to choose
        ((1, "-", 1), 2, ["d2", "d1"]),  # ASC-E41: one card without, no topology
        ((1, 2, 2.9, 1), 2, ["d3", "d0"]),  # ASC-49: fractions are cut, equal groups in visit order
        ((True, 5, 5), 2, ["d2", "d1"]),
    ],
)
def test_the_largest_network_is_preferred(
    networks: tuple[object, ...], count: int, expected: list[str]
) -> None:
    """ASC-45, ASC-48, ASC-49."""
    assert taken(fit(CHIP_B3, cards(CHIP_B3, len(networks), networks=networks), count)) == expected


def test_too_few_cards_on_any_network_do_not_fit() -> None:
    """ASC-48, ASC-E39."""
    result = fit(CHIP_B3, cards(CHIP_B3, 4, networks=(0, 0, 1, 1)), 5)
    assert (result.is_fit, result.reason) == (False, "4/4 AllocatedCardsInsufficientRequest")


def test_cards_of_another_chip_have_no_network_here() -> None:
    """ASC-49, ASC-E48: Parity, the request fits and gets nothing."""
    others = cards(CHIP_B4, 4, networks=(0, 0, 1, 1), vendor="Ascend910B4-1", type="Ascend910B4-1")
    result = fit(CHIP_B4, others, 2)
    assert (result.is_fit, result.allocations) == (True, ())


def test_the_type_is_the_chips_word_whatever_the_cards_model_is() -> None:
    """ASC-43: by the model, cards are chosen before they come here."""
    odd = cards(CHIP_P, 1, type="Atlas 300I")
    assert taken(fit(CHIP_P, odd, 1)) == ["d0"]
    asked = CardRequest(1, VendorKey("Atlas 300I"), 100)
    assert make_ascend(CHIP_P).fit(make_context(), odd, asked).reason == "1/1 CardTypeMismatch"


@pytest.mark.parametrize(
    ("chip", "other", "reason"), [(CHIP_B4, "Ascend910B4-1", ""), (CHIP_B3, "Ascend910B", WITHOUT)]
)
def test_a_word_takes_the_cards_of_a_longer_word_and_not_the_other_way_round(
    chip: Chip, other: str, reason: str
) -> None:
    """VB-9, ASC-43, ASC-E47: Parity; annotations are the asked chip's only (Q-1)."""
    backend = make_ascend(chip)
    strangers = make_ascend(replace(chip, common_word=other, resource_name=f"huawei.com/{other}"))
    text = json.dumps(
        [{"id": "u0", "count": 4, "devmem": 65536, "devcore": 20, "type": other, "health": True}]
    )
    node = OneNode(backend, strangers, node=make_node(annotations={strangers.keys.register: text}))
    outcome = node.place(make_container(limits={chip.resource_name: 1}))
    assert outcome.reason == reason
    assert set(node.written) == (set() if reason else set(backend.written_keys))


def test_chips_without_topology_stop_at_the_first_cards() -> None:
    """ASC-42: only words that begin with ``Ascend910``."""
    assert taken(fit(CHIP_P, cards(CHIP_P, 4, networks=(0, 0, 0, 1)), 2)) == ["d3", "d2"]


def test_allocations_carry_what_the_card_registered_besides() -> None:
    """ASC-46: the node score needs it."""
    result = fit(CHIP_B3, cards(CHIP_B3, 1, networks=(7,)), 1, cores=5)
    assert result.allocations == (
        Allocation(CardId("d0"), "Ascend910B3", 100, 5, index=0, custom={"NetworkID": 7}),
    )


def test_dies_are_given_by_the_module() -> None:
    """ASC-47, ASC-E42."""
    assert taken(fit(CHIP_C, cards(CHIP_C, 4), 2)) == ["d3", "d2"]
    assert taken(fit(CHIP_C, cards(CHIP_C, 4), 4)) == ["d3", "d2", "d1", "d0"]


def test_a_module_with_a_full_die_is_left_out() -> None:
    """ASC-47, ASC-E43."""
    candidates = cards(CHIP_C, 4)
    candidates[1] = make_card(id="d1", vendor="Ascend910C", index=1, shares=1, used=(1, 0, 0), cores=20)
    assert taken(fit(CHIP_C, candidates, 2)) == ["d3", "d2"]
    refused = fit(CHIP_C, candidates, 4)
    assert refused.reason == "1/4 CardTimeSlicingExhausted, 2/4 AllocatedCardsInsufficientRequest"


@pytest.mark.parametrize(("free", "count", "reason"), [(4, 3, "4/3"), (3, 3, "2/3"), (1, 2, "0/2")])
def test_modules_never_make_an_odd_number(free: int, count: int, reason: str) -> None:
    """ASC-47, ASC-E44: Parity, counted against the cards asked for."""
    result = fit(CHIP_C, cards(CHIP_C, free), count)
    assert (result.is_fit, result.reason) == (False, f"{reason} AllocatedCardsInsufficientRequest")


@pytest.mark.parametrize("networks", [(), (1, 1, 2, 2)])
def test_a_single_die_needs_no_module(networks: tuple[object, ...]) -> None:
    """ASC-47, ASC-E45."""
    assert taken(fit(CHIP_C, cards(CHIP_C, 4, networks=networks), 1)) == ["d3"]


def test_cards_without_indices_look_like_one_module() -> None:
    """ASC-47, ASC-E46: Parity, two are one and the same card twice, other numbers pair with nothing."""
    assert taken(fit(CHIP_C, cards(CHIP_C, 2, index=0), 2)) == ["d0", "d0"]
    assert fit(CHIP_C, cards(CHIP_C, 4, index=0), 2).reason == "0/2 AllocatedCardsInsufficientRequest"


@pytest.mark.parametrize(
    ("by_default", "node", "fits"),
    [
        (False, None, False),
        (True, None, True),
        (True, "false", False),
        (True, "True", False),
        (True, "true", True),
        (False, "true", True),
    ],
)
def test_soft_split_needs_a_node_that_supports_it(by_default: bool, node: str | None, fits: bool) -> None:
    """ASC-41, ASC-E49, ASC-E50: the node's own word counts, and one text for however many cards."""
    backend = make_ascend(CHIP_B3, is_soft_by_default=by_default)
    labels = {} if node is None else {"hami-vnpu-core": node}
    context = make_context(pod=make_pod(annotations=SOFT), node=make_node(annotations=labels))
    result = backend.fit(context, cards(CHIP_B3, 2), CardRequest(1, backend.vendor_key, 100, 0, 5))
    assert (result.is_fit, result.reason) == (fits, "" if fits else "1/2 ModeNotFit")


def test_hard_split_goes_anywhere() -> None:
    """ASC-41."""
    node = make_node(annotations={"hami-vnpu-core": "true"})
    assert taken(fit(CHIP_B3, cards(CHIP_B3, 2), 1, make_context(node=node))) == ["d1"]


def test_soft_split_counts_cores_in_percent() -> None:
    """ASC-44, ASC-E51."""
    node = make_node(annotations={"hami-vnpu-core": "true"})
    soft = make_context(pod=make_pod(annotations=SOFT), node=node)
    assert taken(fit(CHIP_B3, cards(CHIP_B3, 2), 1, soft, cores=50)) == ["d1"]
    assert fit(CHIP_B3, cards(CHIP_B3, 2), 1, cores=50).reason == "2/2 CardInsufficientCore"
    used = cards(CHIP_B3, 1, used=(1, 100, 51))
    assert fit(CHIP_B3, used, 1, soft, cores=50).reason == "1/1 CardInsufficientCore"
    assert fit(CHIP_B3, used, 1, soft, cores=100).reason == "1/1 CardInsufficientCore"
    shared = cards(CHIP_B3, 1, used=(1, 100, 0))
    assert fit(CHIP_B3, shared, 1, soft, cores=100).reason == "1/1 ExclusiveDeviceAllocateConflict"


@pytest.mark.parametrize(
    ("cores_used", "reason"), [(50, "1/1 CardInsufficientCore"), (20, "1/1 CardComputeUnitsExhausted")]
)
def test_both_splits_on_one_card_get_in_each_others_way(cores_used: int, reason: str) -> None:
    """ASC-44, ASC-E52: Parity."""
    assert fit(CHIP_B3, cards(CHIP_B3, 1, used=(1, 100, cores_used)), 1).reason == reason


def test_every_card_has_its_own_reason() -> None:
    """ASC-E53."""
    candidates = [
        make_card(id="d0", vendor="Ascend910A", healthy=False),
        make_card(id="d1", vendor="Ascend910A", shares=1, used=(1, 0, 0)),
        make_card(id="d2", vendor="Ascend910A"),
    ]
    pod = make_pod(annotations={"hami.io/use-Ascend910A-uuid": "d2,d1"})
    result = fit(CHIP_A, candidates, 2, make_context(pod=pod))
    assert (
        result.reason
        == "1/3 AllocatedCardsInsufficientRequest, 1/3 CardNotHealth, 1/3 CardTimeSlicingExhausted"
    )


def test_uuid_lists_choose_cards() -> None:
    """ASC-7, VB-16."""
    wanted = make_context(pod=make_pod(annotations={"hami.io/use-Ascend910A-uuid": " d1 ,x"}))
    unwanted = make_context(pod=make_pod(annotations={"hami.io/no-use-Ascend910A-uuid": "d2"}))
    assert taken(fit(CHIP_A, cards(CHIP_A, 3), 1, wanted)) == ["d1"]
    assert taken(fit(CHIP_A, cards(CHIP_A, 3), 1, unwanted)) == ["d1"]


def entry(*networks: object) -> tuple[Allocation, ...]:
    return tuple(
        Allocation(CardId(f"d{n}"), "t", 0, 0, custom={} if network == "-" else {"NetworkID": network})
        for n, network in enumerate(networks)
    )


@pytest.mark.parametrize(
    ("chip", "entries", "score"),
    [
        (CHIP_B3, [(1, 1)], 10.0),
        (CHIP_B3, [(1, 2)], 5.0),
        (CHIP_B3, [(1, 1, 1, 2)], 7.5),
        (CHIP_B3, [(1,), (), (1, 2)], 15.0),
        (CHIP_B3, [(1,), ("-",)], 0.0),
        (CHIP_B3, [("a", "a")], 0.0),
        (CHIP_B3, [(1.2, 1.9)], 10.0),
        (CHIP_B3, [(1, 1, 2)], 6.6666669845581055),
        (CHIP_P, [(1, 1)], 0.0),
    ],
)
def test_cards_that_lie_together_raise_the_nodes_score(
    chip: Chip, entries: list[tuple[object, ...]], score: float
) -> None:
    """ASC-50, ASC-51, ASC-E54, ASC-E55: also under ``spread`` (ASC-52)."""
    containers = tuple(entry(*networks) for networks in entries)
    given = ScoreInput(make_node(), make_pod(), containers, (), "spread")
    assert make_ascend(chip).score_node(given) == score
