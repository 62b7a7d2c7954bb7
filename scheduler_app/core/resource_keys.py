"""Resource names that a pod misspells (F35)."""

from collections.abc import Collection, Iterable, Iterator

MOST_EXAMINED = 64  # unknown names of a pod that are compared; more are no slip of the pen
SHORT = 5  # up to so many letters one wrong letter is a near miss, beyond it two
_LONGEST = 64


def near_misses(names: Iterable[str], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each unknown name with the known one of the same domain that was probably meant (F35)."""
    unknown = [name for name in names if name not in known and "/" in name]
    if not unknown:  # as a rule
        return
    by_domain: dict[str, list[str]] = {}
    for name in sorted(known):
        domain, _slash, word = name.partition("/")
        by_domain.setdefault(domain.lower(), []).append(word)
    left = MOST_EXAMINED
    for name in unknown:
        domain, _slash, word = name.partition("/")
        if domain.lower() not in by_domain or len(word) > _LONGEST or not left:
            continue
        left -= 1
        meant = _nearest(word.lower(), by_domain[domain.lower()])
        if meant:
            yield name, f"{domain.lower()}/{meant}"


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word with the fewest letters to change, or an empty text when none is near."""
    best, least = "", 3
    for candidate in known:
        allowed = 1 if len(candidate) <= SHORT else 2
        if abs(len(candidate) - len(word)) > allowed:
            continue
        distance = edits(word, candidate.lower())
        if distance <= allowed and distance < least:
            best, least = candidate, distance
    return best


def edits(left: str, right: str) -> int:
    """Return how many letters to insert, drop or replace make one text of the other."""
    above = list(range(len(right) + 1))
    for row, one in enumerate(left, 1):
        line = [row]
        for column, other in enumerate(right, 1):
            line.append(min(above[column] + 1, line[-1] + 1, above[column - 1] + (one != other)))
        above = line
    return above[-1]
