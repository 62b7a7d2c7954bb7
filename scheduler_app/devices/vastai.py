"""Vastai: cards, or dies that sit several on one physical card. Rules VS-1 to VS-31.

A die says on which card it sits in its custom information, ``{"DeviceStrategy":"die","AIC":"<card id>"}``.
The type keys ``vastaitech.com/use-va`` and ``vastaitech.com/nouse-va`` are read by nobody.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_app.core import reasons
from scheduler_app.core.backend import DeviceBackend, Keys, ResourceNames, Vendor
from scheduler_app.core.counted import SharesOnlyBackend
from scheduler_app.core.fit import FitRun
from scheduler_app.core.float32 import f32
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, CardUsage, Custom, VendorKey

KEY = VendorKey("Vastai")
KEYS = Keys(
    allocated="hami.io/Vastai-devices-allocated",
    to_allocate="hami.io/Vastai-devices-to-allocate",
    register="hami.io/node-va-register",
    handshake="hami.io/node-handshake-va",
    use_uuid="vastaitech.com/use-gpuuuid",
    nouse_uuid="vastaitech.com/nouse-gpuuuid",
)
STRATEGY = "DeviceStrategy"
BY_DIE = "die"
PHYSICAL_CARD = "AIC"


@dataclass(frozen=True, slots=True)
class Config:
    """The section ``vastai`` of the device configuration (DCF-5)."""

    resource_count_name: str = ""


class VastaiBackend(SharesOnlyBackend):
    """Shared by number alone; of dies, those of one physical card go together."""

    vendor_key = KEY
    keys = KEYS

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(count=config.resource_count_name)

    def sharing_refusal(self, run: FitRun, card: CardUsage) -> str | None:
        """S7 and S8; among dies a pod that wants no neighbours wants none on the physical card (VS-23)."""
        refusal = super().sharing_refusal(run, card)
        if refusal is None and run.is_mutex and run.takes_all and _has_busy_sibling(run, card):
            return reasons.EXCLUSIVE_CONFLICT
        return refusal

    def chooses_among_all(self, run: FitRun) -> bool:
        """Say whether these are dies. Parity: the first candidate speaks for all (VS-20, VS-E11, VS-E12)."""
        return bool(run.cards) and run.cards[0].custom.get(STRATEGY) == BY_DIE

    def choose(self, run: FitRun) -> Sequence[Allocation]:
        """Fill up from the physical card with the most free dies (VS-25, VS-26).

        Parity: dies that do not say where they sit are left out, so that fewer than asked, even none, may
        come back and still count as success (VS-27, VS-E09, VS-E10).
        """
        wanted = run.request.cards
        if wanted == 1:
            return run.taken[:1]
        groups: dict[str, list[Allocation]] = {}
        for allocation in run.taken:
            place = _physical_card(allocation.custom)
            if place is not None:
                groups.setdefault(place, []).append(allocation)
        largest_first = sorted(groups.values(), key=len, reverse=True)  # equal ones as visited (VS-26)
        return [allocation for group in largest_first for allocation in group][:wanted]

    def score_node(self, given: ScoreInput) -> float:
        """Add, for each container, the part of its dies that share one physical card (VS-30).

        Parity: higher is better under ``binpack`` only; ``spread`` prefers scattered dies (VS-31).
        """
        total = 0.0
        for container in given.containers:
            if not all(_counts(allocation.custom) for allocation in container):
                return 0.0
            total = f32(total + _locality(container))
        return total

    def shown_mode(self, card: CardUsage) -> str:
        """Say of a die on which physical card it sits."""
        place = _physical_card(card.card.custom)
        is_die = card.card.custom.get(STRATEGY) == BY_DIE
        return f"{BY_DIE} {place}" if is_die and place is not None else ""


def _has_busy_sibling(run: FitRun, card: CardUsage) -> bool:
    """Say whether anybody uses a die of the same physical card, even one that was refused (VS-23)."""
    place = _physical_card(card.custom)
    return place is not None and any(
        other.shares_used > 0 and _physical_card(other.custom) == place for other in run.cards
    )


def _physical_card(custom: Custom) -> str | None:
    place = custom.get(PHYSICAL_CARD)
    return place if isinstance(place, str) else None


def _counts(custom: Custom) -> bool:
    """Say whether a record leaves the score standing; one that is no die takes it away altogether (VS-30)."""
    strategy = custom.get(STRATEGY)
    is_die = not isinstance(strategy, str) or strategy == BY_DIE
    return is_die and PHYSICAL_CARD in custom


def _locality(container: Sequence[Allocation]) -> float:
    """Return the largest share of one physical card in a container, 0 when nothing says where it sits."""
    places = [place for allocation in container if (place := _physical_card(allocation.custom)) is not None]
    if not places:
        return 0.0
    largest = max(Counter(places).values())
    return f32(f32(largest) / f32(len(places)))


def build(config: Config) -> list[DeviceBackend]:
    return [VastaiBackend(config)]


VENDOR = Vendor(name="vastai", title="Vastai", config_key="vastai", config=Config, build=build, rank=13)
