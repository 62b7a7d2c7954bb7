"""Profiles: the kinds of slice of an Enflame card, and which of them a request gets (ENF-3, ENF-6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduler_app.core import quantity
from scheduler_app.core import text as texts
from scheduler_app.core.types import CardRequest, CardUsage

PROFILES = "profiles"
MAX_SLICE = "maxSlice"
MIB_A_GB = 1024
LARGEST_GB = quantity.INT32_MAX // MIB_A_GB
BY_SLICE = 0
"""Percentage of a request whose memory is the slice's size; any other is by specification (ENF-5)."""


@dataclass(frozen=True, slots=True, order=True)
class Profile:
    """One kind of slice. The order of fields is the order of preference: the smallest that does is taken."""

    size: int
    mem_gb: int
    name: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """The profile a request gets; ``cores`` is percent, ``asked_gb`` how the memory was understood."""

    profile: Profile
    cores: int
    asked_gb: int

    @property
    def mem_mib(self) -> int:
        return self.profile.mem_gb * MIB_A_GB


def parse(name: str) -> tuple[int, int]:
    """Return size and GB of a name such as ``3g.20gb``; what cannot be read is 0 (ENF-E14, ENF-E15)."""
    parts = name.strip().lower().split(".")
    size = _number(parts[0], "g") if len(parts) > 1 else None
    if size is None:
        return 0, 0
    return size, _number(parts[1], "gb") or 0


def choose(cards: Sequence[CardUsage], request: CardRequest) -> Choice | None:
    """Return the smallest profile of all the cards that does, or None (ENF-6)."""
    found = _usable(cards)
    sizes = [value for card in cards if isinstance(value := card.card.custom.get(MAX_SLICE), int)]
    max_slice = max(sizes, default=0)
    if max_slice <= 0:
        max_slice = max((profile.size for profile in found), default=0)
    if max_slice <= 0:
        return None
    is_direct = request.mem_percent == BY_SLICE
    asked_gb = _asked_gb(request, found)
    for profile in found:
        cores = -(-profile.size * 100 // max_slice)
        if is_direct:
            does = profile.size == request.mem_mib
        else:
            does = profile.mem_gb >= asked_gb and (request.cores <= 0 or cores >= request.cores)
        if does:
            fits = profile.mem_gb <= LARGEST_GB and max(profile.size, cores) <= quantity.INT32_MAX
            return Choice(profile, cores, 0 if is_direct else asked_gb) if fits else None
    return None


def _asked_gb(request: CardRequest, found: Sequence[Profile]) -> int:
    """Return the memory asked for in GB, 0 for any.

    Parity: more than twice the largest profile is taken for MiB (ENF-6, ENF-E18).
    """
    amount = request.mem_mib
    if amount <= 0 or not found:
        return 0
    return -(-amount // MIB_A_GB) if amount > 2 * found[-1].mem_gb else amount


def in_mib(amount: int) -> int:
    """Return MiB of an amount in GB or MiB where no node's profiles tell which: no card has a TiB."""
    return amount * MIB_A_GB if amount < MIB_A_GB else amount


def _usable(cards: Sequence[CardUsage]) -> list[Profile]:
    """Return what can be given at all, the smallest first; of equal ones the smaller name."""
    named: dict[str, str] = {}
    for card in cards:
        kinds = card.card.custom.get(PROFILES)
        if isinstance(kinds, Mapping):
            named.update(kinds)
    found = (Profile(*parse(name), name, identity) for name, identity in named.items())
    return sorted(profile for profile in found if profile.size > 0 and profile.mem_gb > 0)


def _number(part: str, unit: str) -> int | None:
    try:
        return texts.integer(part.strip().removesuffix(unit))
    except ValueError:
        return None
