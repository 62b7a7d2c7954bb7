"""Reserved MIG instances: the annotation (P-12, NV-70, NV-71), and a node's cards (M-17 to M-22)."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import Allocation, Card, CardId, Containers, Placement
from scheduler_app.devices.nvidia import reservations
from tests.devices.nvidia.cards import NVIDIA, card, mig_card
from tests.factories import make_pod

Json = dict[str, Any]
WHOLE: Json = {
    "containerIndex": 0,
    "deviceIndex": 0,
    "gpuUUID": "m",
    "profile": "1g.5gb",
    "placement": {"start": 6, "size": 1},
}


def reservation(**members: object) -> Json:
    return {**WHOLE, **members}


def instance(profile: str, start: int, size: int) -> Allocation:
    custom = {reservations.PROFILE: profile, reservations.PLACEMENT: Placement(start, size)}
    return Allocation(CardId("m"), "NVIDIA", 5120, 14, custom=custom)


SHARED = Allocation(CardId("h"), "NVIDIA", 1000, 0)


def test_shared_cards_keep_their_position() -> None:
    """NV-70: ``deviceIndex`` counts them; what is no instance is left out."""
    containers: Containers = (
        (),
        (SHARED, instance("1g.5gb", 6, 1)),
        (instance("", 0, 1), instance("2g", 0, 0)),
    )
    assert json.loads(reservations.encode(containers) or "") == [reservation(containerIndex=1, deviceIndex=1)]


def test_without_instances_nothing_is_written() -> None:
    """NV-70, NV-E84."""
    assert reservations.encode(((SHARED,), ())) is None
    written = NVIDIA.annotations(make_pod(), ((), ()), now_ns=0)
    assert set(written.values()) == {";;"}
    assert reservations.ANNOTATION not in written


@given(
    st.lists(
        st.lists(
            st.builds(
                instance,
                st.text(min_size=1, max_size=5),
                st.integers(0, 2**32 - 1),
                st.integers(1, 2**32 - 1),
            ),
            max_size=4,
        ),
        max_size=4,
    )
)
def test_what_is_written_is_read_again(containers: list[list[Allocation]]) -> None:
    """P-12."""
    text = reservations.encode(tuple(tuple(container) for container in containers))
    found = [(one.container, one.device, one.instance.profile, one.instance.placement) for one in read(text)]
    assert found == [
        (c, d, one.custom[reservations.PROFILE], one.custom[reservations.PLACEMENT])
        for c, container in enumerate(containers)
        for d, one in enumerate(container)
    ]


def read(text: str | None) -> Sequence[reservations.Reservation]:
    return reservations.decode(text or "")


@pytest.mark.parametrize("text", ["", "[]", "null"])
def test_nothing_reserved_is_no_error(text: str) -> None:
    """NV-71."""
    assert reservations.decode(text) == ()


def test_what_the_node_has_made_is_told() -> None:
    """M-22: an id of 0 counts as present; unknown members are ignored, names may be in any case."""
    (made,) = reservations.decode(
        json.dumps([{**reservation(migUUID="MIG-1", gpuInstanceID=0, more=1), "COMPUTEINSTANCEID": 0}])
    )
    assert made.instance.is_realized
    (waiting,) = reservations.decode(json.dumps([reservation(migUUID="")]))
    assert not waiting.instance.is_realized


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([reservation(containerIndex=-1)], "MIG allocation 0 is incomplete"),
        ([reservation(), reservation(deviceIndex=-1)], "MIG allocation 1 is incomplete"),
        ([reservation(gpuUUID="")], "MIG allocation 0 is incomplete"),
        ([reservation(profile="")], "MIG allocation 0 is incomplete"),
        ([reservation(placement={"start": 1})], "MIG allocation 0 is incomplete"),
        ([None], "MIG allocation 0 is incomplete"),
        ([reservation(migUUID="MIG-1")], "MIG allocation 0 has partial runtime identity"),
        ([reservation(gpuInstanceID=0)], "MIG allocation 0 has partial runtime identity"),
        (
            [reservation(migUUID="", gpuInstanceID=1, computeInstanceID=0)],
            "MIG allocation 0 has partial runtime identity",
        ),
        ([reservation(), reservation()], "duplicate MIG allocation for container 0 device 0"),
        (
            [reservation(), reservation(), reservation(profile="")],
            "duplicate MIG allocation for container 0 device 0",
        ),
    ],
)
def test_the_first_problem_is_named(items: list[Json], message: str) -> None:
    """NV-71."""
    with pytest.raises(CodecError, match=f"^{message}$"):
        reservations.decode(json.dumps(items))


@pytest.mark.parametrize(
    "text", ["x", "{}", "[1]", '[{"containerIndex":1.0}]', '[{"placement":{"start":-1}}]']
)
def test_other_shapes_are_refused(text: str) -> None:
    """P-12."""
    with pytest.raises(CodecError):
        reservations.decode(text)


# What they do to a node

MIG: Card = mig_card("m").card
CORE: Card = card("h").card
MPS: Card = card("p", mode="mps").card


def effects(
    items: list[Json] | str, held: Sequence[str], cards: Sequence[Card] = (MIG, CORE, MPS)
) -> tuple[dict[str, list[int]], set[str]]:
    """Return the starts of the instances on each card, and the cards that became unhealthy."""
    text = items if isinstance(items, str) else json.dumps(items)
    pod = make_pod(annotations={reservations.ANNOTATION: text} if text else {})
    use = (tuple(Allocation(CardId(id), "NVIDIA", 1, 1) for id in held),)
    found = NVIDIA.slice_effects(pod, use, cards)
    starts = {str(id): [one.placement.start for one in instances] for id, instances in found.slices.items()}
    return starts, {str(id) for id in found.unhealthy}


def test_a_held_mig_card_shows_its_instances() -> None:
    """M-19, M-21: one for each time it is held, then the rest."""
    two = [reservation(), reservation(deviceIndex=1, placement={"start": 5, "size": 1})]
    assert effects(two, ["m"]) == ({"m": [6, 5]}, set())
    assert effects(two, []) == ({"m": [6, 5]}, set())


@pytest.mark.parametrize("items", ["", "broken", [reservation(gpuUUID="h")]])
def test_a_mig_card_held_without_reservation_is_not_trusted(items: list[Json] | str) -> None:
    """M-17, M-19: fail closed; a text that cannot be read counts as none."""
    assert "m" in effects(items, ["m"])[1]


def test_a_reservation_on_a_shared_card_makes_it_unhealthy() -> None:
    """M-19, M-21, NV-9: held or not."""
    for held in (["h"], []):
        assert effects([reservation(gpuUUID="h")], held) == ({}, {"h"})


def test_another_mode_takes_the_first_and_distrusts_the_rest() -> None:
    """M-19, M-21."""
    two = [reservation(gpuUUID="p"), reservation(gpuUUID="p", deviceIndex=1)]
    assert effects(two[:1], ["p"]) == ({"p": [6]}, set())
    assert effects(two, ["p"]) == ({"p": [6]}, {"p"})


def test_a_reservation_on_a_lost_card_distrusts_all_mig_cards() -> None:
    """M-21."""
    assert effects([reservation(gpuUUID="gone")], ["h"]) == ({}, {"m"})


def test_other_cards_of_the_node_stay_healthy() -> None:
    """M-20."""
    assert effects("", ["gone", "h"]) == ({}, set())
    assert effects("", ["h"], [CORE]) == ({}, set())
