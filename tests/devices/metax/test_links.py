"""Cards that are linked. Rules MXS-12, MXS-15, cases MXS-E28 to MXS-E40."""

import pytest

from scheduler_app.core.types import CardId
from scheduler_app.devices.metax import links


def cards(text: str) -> list[links.Linked]:
    """Return cards from ``"a1 b0"``: a letter and a zone."""
    return [(CardId(word[0]), int(word[1:])) for word in text.split()]


@pytest.mark.parametrize(
    ("candidates", "count", "taken"),
    [
        ("e2 d2 c2 b1 a1", 2, "ba"),
        ("e2 d2 c2 b1 a1", 4, "baed"),
        ("e2 d2 c1 b0 a0", 1, "c"),
        ("e1 d1 c1 b0 a0", 4, "edcb"),
        ("c2 b2 a1", 1, "a"),
        ("d2 c2 b1 a1", 2, "dc"),
        ("c-1 b0 a-1", 2, "ca"),
    ],
)
def test_the_smallest_group_that_suffices_is_taken(candidates: str, count: int, taken: str) -> None:
    """MXS-E28 to MXS-E32; of equal groups the one that comes first."""
    assert links.choose(cards(candidates), count=count) == list(taken)


@pytest.mark.parametrize(
    ("taken", "idle", "score"),
    [
        ("a1 b1", "a1 b1 c1 d1", 60),
        ("a1", "a1 b1 c1 d1", -30),
        ("a1 b1 c1 d1 e2 f2 g2 h2", "a1 b1 c1 d1 e2 f2 g2 h2", 1200),
        ("a1 c2", "a1 b1 c2 d2", -20),
        ("a1 b1", "a1 b1 c1", 80),
        ("a1 b1", "a1 b1", 100),
        ("a1 a1", "a1 b1 c1", -20),
        ("a0 b0", "a0 b0 c0", 0),
        ("a-1 b-1", "a-1 b-1", 100),
    ],
)
def test_links_inside_count_and_broken_ones_cost(taken: str, idle: str, score: int) -> None:
    """MXS-E34 to MXS-E36, MXS-E38 to MXS-E40."""
    assert links.score(cards(taken), cards(idle)) == score
