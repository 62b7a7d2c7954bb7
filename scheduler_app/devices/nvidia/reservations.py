"""MIG instances that pods have reserved: ``hami.io/vgpu-mig-allocations`` (P-12, NV-70, NV-71).

Also what a counted pod's reservations do to the cards of its node (M-17 to M-22).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_app.core import codec
from scheduler_app.core.backend import SliceEffects
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import Allocation, Card, CardId, Containers, Placement, SliceInUse
from scheduler_app.devices.nvidia import mig

ANNOTATION = "hami.io/vgpu-mig-allocations"
PROFILE = "migProfile"
PLACEMENT = "migPlacement"
HAMI_CORE = codec.HAMI_CORE
_UINT32 = 2**32 - 1
_INT64 = {"low": -(2**63), "high": 2**63 - 1}


@dataclass(frozen=True, slots=True)
class Reservation:
    """One instance, reserved for card ``device`` of a container; init containers come first."""

    container: int
    device: int
    card: CardId
    instance: SliceInUse


def encode(containers: Containers) -> str | None:
    """Return the annotation's text, or None when no allocation is an instance (NV-70)."""
    found = [
        _members(c, d, allocation)
        for c, allocations in enumerate(containers)
        for d, allocation in enumerate(allocations)
        if allocation.custom.get(PROFILE) and allocation.custom[PLACEMENT].size
    ]
    return codec.compact_json(found) if found else None


def _members(container: int, device: int, allocation: Allocation) -> Mapping[str, object]:
    place: Placement = allocation.custom[PLACEMENT]
    return {
        "containerIndex": container,
        "deviceIndex": device,
        "gpuUUID": allocation.card,
        "profile": allocation.custom[PROFILE],
        "placement": {"start": place.start, "size": place.size},
    }


def decode(text: str) -> tuple[Reservation, ...]:
    """Read the annotation; empty text, ``[]`` and ``null`` are no reservations (NV-71).

    Raises:
        CodecError: the first problem in the order of the array, with the reference's words.
    """
    data = codec.load_json(text) if text else None
    if data is None:
        return ()
    if not isinstance(data, list):
        raise CodecError("expected an array of MIG allocations")
    found: dict[tuple[int, int], Reservation] = {}
    for position, reservation in enumerate([_shape(item, n) for n, item in enumerate(data)]):
        _check(reservation, position)
        place = reservation.container, reservation.device
        if place in found:
            raise CodecError(f"duplicate MIG allocation for container {place[0]} device {place[1]}")
        found[place] = reservation
    return tuple(found.values())


def _shape(item: Any, position: int) -> Reservation:
    at = f"[{position}]"
    members = codec.fold_or_empty(item, at)
    gpu, compute = (_id(members, name, at) for name in ("gpuinstanceid", "computeinstanceid"))
    place = codec.placement(members.get("placement", {}), f"{at}.placement")
    profile, uuid = (codec.member(members, name, str, at) for name in ("profile", "miguuid"))
    return Reservation(
        codec.whole(members, "containerindex", at, **_INT64),
        codec.whole(members, "deviceindex", at, **_INT64),
        CardId(codec.member(members, "gpuuuid", str, at)),
        SliceInUse(profile, place, uuid, gpu, compute),
    )


def _id(members: Mapping[str, Any], name: str, at: str) -> int | None:
    return codec.whole(members, name, at, low=0, high=_UINT32) if name in members else None


def _check(reservation: Reservation, position: int) -> None:
    instance = reservation.instance
    if min(reservation.container, reservation.device) < 0:
        raise CodecError(f"MIG allocation {position} is incomplete")
    if not reservation.card or not instance.profile or instance.placement.size == 0:
        raise CodecError(f"MIG allocation {position} is incomplete")
    told = (bool(instance.instance_uuid), instance.gpu_instance_id is not None)
    if len({*told, instance.compute_instance_id is not None}) > 1:
        raise CodecError(f"MIG allocation {position} has partial runtime identity")


def effects(text: str, held: Containers, cards: Sequence[Card]) -> SliceEffects:
    """Return the instances a pod holds on its node's cards, and the cards that cannot be trusted any more.

    A text that cannot be read counts as none, which makes every MIG card the pod holds unhealthy (M-19,
    M-21).
    """
    waiting = _by_card(text)
    tally = _Tally({}, set())
    used = [allocation.card for allocations in held for allocation in allocations]
    for card_id in used:
        for card in cards:
            if card.id == card_id:
                tally.count(card, waiting.get(card_id, []))
    tally.count_rest(waiting, cards)
    return SliceEffects(
        {card: tuple(found) for card, found in tally.slices.items()}, frozenset(tally.unhealthy)
    )


def _by_card(text: str) -> dict[CardId, list[SliceInUse]]:
    try:
        reservations = decode(text)
    except CodecError:
        return {}
    grouped: dict[CardId, list[SliceInUse]] = {}
    for reservation in reservations:
        grouped.setdefault(reservation.card, []).append(reservation.instance)
    return grouped


@dataclass(frozen=True, slots=True)
class _Tally:
    slices: dict[CardId, list[SliceInUse]]
    unhealthy: set[CardId]

    def count(self, card: Card, waiting: list[SliceInUse]) -> None:
        """Match one card that the pod holds with its next reservation there (M-19)."""
        if not waiting:
            if card.mode == mig.MODE:
                self.unhealthy.add(card.id)
        elif card.mode == HAMI_CORE:
            self.unhealthy.add(card.id)
        else:
            self.slices.setdefault(card.id, []).append(waiting.pop(0))

    def count_rest(self, waiting: Mapping[CardId, Iterable[SliceInUse]], cards: Sequence[Card]) -> None:
        """Keep reservations that no held card has claimed (M-21)."""
        modes = {card.id: card.mode for card in cards}
        for card_id, instances in waiting.items():
            rest = list(instances)
            if not rest:
                continue
            if card_id not in modes:
                self.unhealthy.update(card.id for card in cards if card.mode == mig.MODE)
            elif modes[card_id] == mig.MODE:
                self.slices.setdefault(card_id, []).extend(rest)
            else:
                self.unhealthy.add(card_id)
