"""Cards that are well linked: pair scores and the best choice among the cards that passed (NV-8, NV-50)."""

import heapq
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_app.core import codec
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import NOTHING, Allocation, CardId

PairScores = Mapping[CardId, Mapping[str, int]]
_INT64 = {"low": -(2**63), "high": 2**63 - 1}
MOST_WORK = 500_000
"""Pair scores a search may look at before its best choice so far stands.

Eight linked cards need a few hundred, 24 with random scores up to 450,000; only texts made to hurt need more.
"""


def decode_scores(text: str) -> PairScores:
    """Read ``[{"uuid": …, "score": {<other>: n}}, …]``; the first entry of a card counts (P-5, NV-8).

    Raises:
        CodecError: it is not of that shape.
    """
    data = codec.load_json(text)
    if data is None:
        return NOTHING
    if not isinstance(data, list):
        raise CodecError("expected an array of pair scores")
    found: dict[CardId, Mapping[str, int]] = {}
    for position, item in enumerate(data):
        card, scores = _entry(item, f"[{position}]")
        found.setdefault(card, scores)
    return found


def _entry(item: Any, at: str) -> tuple[CardId, Mapping[str, int]]:
    members = codec.fold_or_empty(item, at)
    scores = members.get("score", {})
    if not isinstance(scores, dict):
        raise CodecError(f"{at}.score: expected an object")
    named = {name: 0 if value is None else value for name, value in scores.items()}
    pairs = {name: codec.whole(named, name, f"{at}.score", **_INT64) for name in named}
    return CardId(codec.member(members, "uuid", str, at)), pairs


def loneliest(taken: Sequence[Allocation], scores: PairScores) -> Allocation:
    """Return the card worst linked to the others, so that well-linked ones stay together; first wins."""

    def total(one: Allocation) -> int:
        row = scores.get(one.card, NOTHING)
        return sum(row.get(other.card, 0) for other in taken if other.card != one.card)

    return min(taken, key=total)


def best_linked(taken: Sequence[Allocation], count: int, scores: PairScores) -> list[Allocation]:
    """Return the ``count`` allocations with the highest sum of pair scores, in the order they were taken.

    The value of a choice is the sum over pairs, earlier to later; the first choice in lexicographic order of
    positions wins among equals (NV-50). Neighbours of the same card are interchangeable, so only how many of
    each are taken is searched: 56 instances on 8 cards are 8 decisions.
    """
    groups = _neighbours(taken)
    search = _Search([group[0].card for group in groups], [len(group) for group in groups], scores)
    counts = search.best(count)
    return [allocation for group, n in zip(groups, counts, strict=True) for allocation in group[:n]]


def _neighbours(taken: Sequence[Allocation]) -> list[list[Allocation]]:
    groups: list[list[Allocation]] = []
    for allocation in taken:
        if groups and groups[-1][0].card == allocation.card:
            groups[-1].append(allocation)
        else:
            groups.append([allocation])
    return groups


class _Step(NamedTuple):
    """Groups before ``at`` are decided by ``counts``; ``gains``: what one more of a group adds to them."""

    at: int
    left: int
    value: int
    gains: Sequence[int]
    counts: tuple[int, ...]


class _Search:
    """Branch and bound over how many of each group are taken.

    Larger counts of earlier groups come first, which is the lexicographic order of positions; so a choice
    that is only equal never replaces the one found before it.
    """

    def __init__(self, cards: Sequence[CardId], sizes: Sequence[int], scores: PairScores) -> None:
        rows = [scores.get(card, NOTHING) for card in cards]
        self._sizes = sizes
        self._pair = [[row.get(card, 0) for card in cards] for row in rows]
        self._room = [sum(sizes[at:]) for at in range(len(sizes) + 1)]
        self._halves: dict[tuple[int, int], list[int]] = {}
        self._work = 0

    def best(self, count: int) -> tuple[int, ...]:
        best: _Step | None = None
        open_steps = [_Step(0, count, 0, [0] * len(self._sizes), ())]
        while open_steps:
            step = open_steps.pop()
            if step.left == 0:
                if best is None or step.value > best.value:
                    best = step
            elif best is None or (self._work < MOST_WORK and self._can_beat(step, best.value)):
                open_steps.extend(self._next(step))
        assert best is not None  # noqa: S101  (there are at least ``count`` to choose from)
        return best.counts + (0,) * (len(self._sizes) - len(best.counts))

    def _next(self, step: _Step) -> list[_Step]:
        """Return the decisions on the next group, the preferred one last."""
        at, left, value, gains, counts = step
        row = self._pair[at]
        fewest = max(0, left - self._room[at + 1])
        found = []
        for n in range(fewest, min(left, self._sizes[at]) + 1):
            more = n * gains[at] + n * (n - 1) // 2 * row[at]
            later = [gain + n * score for gain, score in zip(gains, row, strict=True)] if n else gains
            found.append(_Step(at + 1, left - n, value + more, later, (*counts, n)))
        return found

    def _can_beat(self, step: _Step, value: int) -> bool:
        """Say whether a choice from here on may be worth more than ``value``.

        Every card is worth its gain and half of its best pair scores among the rest; as if the most valuable
        cards could be taken. Twice the value is compared, to stay in whole numbers.
        """
        at, left, gains = step.at, step.left, step.gains
        self._work += len(self._sizes)
        twice = (
            2 * gains[j] + scores
            for j, scores in enumerate(self._best_scores(at, left), at)
            for _ in range(min(left, self._sizes[j]))
        )
        return 2 * step.value + sum(heapq.nlargest(left, twice)) > 2 * value

    def _best_scores(self, at: int, left: int) -> list[int]:
        """Return, by group from ``at`` on, the best ``left - 1`` pair scores a card of it can have there."""
        found = self._halves.get((at, left))
        if found is None:
            self._work += (len(self._sizes) - at) ** 2
            found = [self._scores_of(at, left, j) for j in range(at, len(self._sizes))]
            self._halves[at, left] = found
        return found

    def _scores_of(self, at: int, left: int, j: int) -> int:
        pair = self._pair
        others = (
            pair[min(j, k)][max(j, k)]
            for k in range(at, len(self._sizes))
            for _ in range(min(left, self._sizes[k]) - (k == j))
        )
        return sum(heapq.nlargest(left - 1, others))
