"""Scores and orders: devices (F-23 to F-26), nodes (F-36 to F-40). float32, operation by operation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from scheduler_app.core import ordering, quantity
from scheduler_app.core import text as texts
from scheduler_app.core.errors import HamiError
from scheduler_app.core.float32 import f32
from scheduler_app.core.types import CardRequest, CardUsage, Containers, Node, Pod

WEIGHT_NAMES = ("slot", "core", "memory")
_CHAIN_KEYS = ("binpack", "spread", "numa")
_NO_PERCENTAGE = 101
EXACT = 2**24
SCORES_KEPT = 4096


class WeightsError(HamiError):
    """The pod's scoring weights cannot be read; the text is the reference's (F-17)."""


class Weights(NamedTuple):
    """Scoring weights, already as float32 values."""

    slot: float = 1.0
    core: float = 1.0
    memory: float = 1.0


EVEN_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class ScoreInput:
    """What a vendor's node score may look at (IF-11); ``cards`` are as before this pod's containers."""

    node: Node
    pod: Pod
    containers: Containers
    cards: Sequence[CardUsage]
    policy: str


def parse_weights(key: str, raw: str | None) -> Weights:
    """Read ``"slot=1,core=2,memory=3"``; an absent annotation weighs all alike (F-17)."""
    if raw is None:
        return EVEN_WEIGHTS
    blame = f"invalid {key} annotation {texts.quote(raw)}: "
    parts = raw.split(",")
    if len(parts) != len(WEIGHT_NAMES):
        raise WeightsError(f"{blame}expected slot, core, and memory weights")
    found: dict[str, int] = {}
    for part in parts:
        name, value = _weight(part, found, blame)
        found[name] = value
    if not any(found.values()):
        raise WeightsError(f"{blame}at least one weight must be positive")
    return Weights(*(f32(found[name]) for name in WEIGHT_NAMES))


def _weight(part: str, seen: Mapping[str, int], blame: str) -> tuple[str, int]:
    name, equals, raw = part.strip().partition("=")
    if not equals:
        raise WeightsError(f"{blame}expected key=value entries")
    name, raw = name.strip(), raw.strip()
    if name in seen:
        raise WeightsError(f"{blame}duplicate {texts.quote(name)} weight")
    try:
        value = texts.integer(raw)
    except ValueError as exc:
        raise WeightsError(f"{blame}{texts.quote(name)} weight must be an integer") from exc
    if value < 0:
        raise WeightsError(f"{blame}{texts.quote(name)} weight must not be negative")
    if name not in WEIGHT_NAMES:
        raise WeightsError(f"{blame}unknown weight {texts.quote(name)}")
    return name, value


def card_score(usage: CardUsage, requests: Sequence[CardRequest], weights: Weights) -> float:
    """Return a card's score before a container's requests are placed (F-26).

    Only requests whose type *equals* the card's model count (Parity: Q-31).
    """
    card = usage.card
    if card.shares == 0 or card.cores == 0 or card.mem_mib == 0:
        return 0.0
    cores, mem, shares = usage.cores_used, usage.mem_used_mib, usage.shares_used
    for request in requests:
        if request.type == card.type:
            shares += 1
            cores += request.cores
            mem += _asked_mem(request, card.mem_mib)
    return _weighed(shares, card.shares, cores, card.cores, mem, card.mem_mib, weights)


@lru_cache(SCORES_KEPT)
def _weighed(
    shares: int, all_shares: int, cores: int, all_cores: int, mem: int, all_mem: int, weights: Weights
) -> float:
    """Add up the three parts of a card's score; most cards of a cluster are alike, so it is remembered."""
    shares_part = _ratio(shares, all_shares)
    cores_part = _ratio(cores, all_cores)
    mem_part = _ratio(mem, all_mem)
    if weights is not EVEN_WEIGHTS:  # a product with one is what it was
        shares_part, cores_part = f32(weights.slot * shares_part), f32(weights.core * cores_part)
        mem_part = f32(weights.memory * mem_part)
    return f32(10.0 * f32(f32(shares_part + cores_part) + mem_part))


def _ratio(part: int, whole: int) -> float:
    """Divide as float32 values; integers up to 2^24 are such values already, and cards have smaller ones."""
    if -EXACT <= part <= EXACT and -EXACT <= whole <= EXACT:
        return f32(part / whole)
    return f32(f32(part) / f32(whole))


def _asked_mem(request: CardRequest, total_mib: int) -> int:
    """Return the memory a request asks for; the percentage of one vendor can be negative (ENF-5)."""
    if request.mem_percent not in (0, _NO_PERCENTAGE):
        return quantity.divided(total_mib * request.mem_percent, 100)
    return request.mem_mib


@dataclass(frozen=True, slots=True)
class ScoredCard:
    """A card with the score it is ordered by; the score stays while one container is fitted (F-26, F-27)."""

    usage: CardUsage
    score: float


def order_cards(cards: list[ScoredCard], *, policy: str, binds_numa: bool) -> None:
    """Sort in place so that the preferred card comes last (F-24)."""
    getters = [_SORT_KEYS[name] for name in _sort_keys(policy, binds_numa=binds_numa)]
    keys = list(zip(*(map(getter, cards) for getter in getters), strict=True))
    if len(cards) <= ordering.INSERTION_MAX:  # equal to the reference's insertion sort, and faster
        places = sorted(range(len(cards)), key=keys.__getitem__)
    else:
        places = list(range(len(cards)))
        ordering.sort(places, lambda left, right: keys[left] < keys[right])
    cards[:] = [cards[place] for place in places]


_SORT_KEYS: Mapping[str, Callable[[ScoredCard], float]] = {
    "binpack": attrgetter("score"),
    "spread": lambda card: -card.score,
    "numa": attrgetter("usage.card.numa"),
    "-numa": lambda card: -card.usage.card.numa,
    "used": lambda card: -card.usage.shares_used,
    "index": attrgetter("usage.card.index"),
}


def _sort_keys(policy: str, *, binds_numa: bool) -> tuple[str, ...]:
    if "," in policy or policy == "numa":
        return (*_chain(policy, binds_numa=binds_numa), "index")
    if policy == "mutex":
        return ("used", "numa")
    if binds_numa:
        return ("-numa", "binpack") if policy == "binpack" else ("numa", "spread")
    return ("binpack", "numa") if policy == "binpack" else ("spread", "numa")


def _chain(policy: str, *, binds_numa: bool) -> list[str]:
    words = [word.strip() for word in policy.split(",")]
    chain = list(dict.fromkeys(word for word in words if word in _CHAIN_KEYS)) or ["spread"]
    if binds_numa and chain[0] != "numa":
        chain = ["numa", *(word for word in chain if word != "numa")]
    return chain


def node_score(cards: Sequence[CardUsage]) -> float:
    """Return a node's base score, from its use before this pod (F-36; Parity: Q-32)."""
    shares = cores = mem = 0
    shares_used = cores_used = mem_used = 0
    for usage in cards:
        card = usage.card
        shares, cores, mem = shares + card.shares, cores + card.cores, mem + card.mem_mib
        shares_used += usage.shares_used
        cores_used += usage.cores_used
        mem_used += usage.mem_used_mib
    if shares == 0 or cores == 0 or mem == 0:
        return 0.0
    shares_part = _ratio(shares_used, shares)
    cores_part = _ratio(cores_used, cores)
    mem_part = _ratio(mem_used, mem)
    return f32(10.0 * f32(f32(shares_part + cores_part) + mem_part))
