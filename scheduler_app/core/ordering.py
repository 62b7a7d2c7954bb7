"""The reference's sort, step by step (Appendix A): stable up to twelve elements, deterministic above."""

from collections.abc import Callable, MutableSequence
from typing import TypeVar

T = TypeVar("T")
Less = Callable[[T, T], bool]
INSERTION_MAX = 12


def sort(items: MutableSequence[T], less: Less[T]) -> None:
    """Sort in place, ascending by ``less``."""
    if len(items) <= INSERTION_MAX:
        _Sorter(items, less).insertion(0, len(items))
    else:
        _Sorter(items, less).pattern(0, len(items), limit=len(items).bit_length())


class _Sorter:
    """A pattern-defeating quicksort over positions; the numbers in comments are the steps of A-2."""

    def __init__(self, items: MutableSequence[T], less: Less[T]) -> None:
        self._items = items
        self._less = less
        self._swaps = 0

    def less(self, i: int, j: int) -> bool:
        return self._less(self._items[i], self._items[j])

    def swap(self, i: int, j: int) -> None:
        items = self._items
        items[i], items[j] = items[j], items[i]

    def insertion(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            j = i
            while j > a and self.less(j, j - 1):
                self.swap(j, j - 1)
                j -= 1

    def pattern(self, a: int, b: int, *, limit: int) -> None:
        balanced = partitioned = True
        while True:
            length = b - a
            if length <= INSERTION_MAX:  # 1
                self.insertion(a, b)
                return
            if limit == 0:  # 2
                self._heap(a, b)
                return
            if not balanced:  # 3
                self._scramble(a, b)
                limit -= 1
            pivot, hint = self._pivot(a, b)  # 4
            if hint == "decreasing":  # 5
                self._reverse(a, b)
                pivot, hint = b - 1 - (pivot - a), "increasing"
            if balanced and partitioned and hint == "increasing" and self._nearly_sorted(a, b):  # 6
                return
            if a > 0 and not self.less(a - 1, pivot):  # 7
                a = self._gather_equal(a, b, pivot)
                continue
            mid, partitioned = self._partition(a, b, pivot)  # 8
            left, right, threshold = mid - a, b - mid, length // 8  # 9
            if left < right:
                balanced = left >= threshold
                self.pattern(a, mid, limit=limit)
                a = mid + 1
            else:
                balanced = right >= threshold
                self.pattern(mid + 1, b, limit=limit)
                b = mid

    def _heap(self, first: int, b: int) -> None:
        length = b - first
        for i in range((length - 1) // 2, -1, -1):
            self._sift(i, length, first)
        for i in range(length - 1, -1, -1):
            self.swap(first, first + i)
            self._sift(0, i, first)

    def _sift(self, root: int, high: int, first: int) -> None:
        while (child := 2 * root + 1) < high:
            if child + 1 < high and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def _scramble(self, a: int, b: int) -> None:
        length = b - a
        if length < 8:
            return
        seed, modulus = length, 1 << length.bit_length()
        middle = a + length // 4 * 2 - 1
        for i in range(3):
            seed ^= seed << 13 & 0xFFFFFFFFFFFFFFFF
            seed ^= seed >> 7
            seed ^= seed << 17 & 0xFFFFFFFFFFFFFFFF
            other = seed & (modulus - 1)
            self.swap(middle + i, a + (other - length if other >= length else other))

    def _pivot(self, a: int, b: int) -> tuple[int, str]:
        length = b - a
        self._swaps = 0
        i, j, k = (a + length // 4 * n for n in (1, 2, 3))
        if length >= 50:
            i, j, k = (self._median(x - 1, x, x + 1) for x in (i, j, k))
        pivot = self._median(i, j, k)
        return pivot, {0: "increasing", 12: "decreasing"}.get(self._swaps, "none")

    def _median(self, p: int, q: int, s: int) -> int:
        p, q = self._ordered(p, q)
        q, s = self._ordered(q, s)
        p, q = self._ordered(p, q)
        return q

    def _ordered(self, p: int, q: int) -> tuple[int, int]:
        if self.less(q, p):
            self._swaps += 1
            return q, p
        return p, q

    def _reverse(self, a: int, b: int) -> None:
        i, j = a, b - 1
        while i < j:
            self.swap(i, j)
            i, j = i + 1, j - 1

    def _nearly_sorted(self, a: int, b: int) -> bool:
        i = a + 1
        for _ in range(5):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < 50:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                self._sink(i - 1)
            if b - i >= 2:
                self._float(i + 1, b)
        return False

    def _sink(self, start: int) -> None:
        for q in range(start, 0, -1):
            if not self.less(q, q - 1):
                break
            self.swap(q, q - 1)

    def _float(self, start: int, b: int) -> None:
        for q in range(start, b):
            if not self.less(q, q - 1):
                break
            self.swap(q, q - 1)

    def _gather_equal(self, a: int, b: int, pivot: int) -> int:
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i, j = i + 1, j - 1

    def _partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        self.swap(a, pivot)
        i, j = self._scan(a, a + 1, b - 1)
        if i > j:
            self.swap(j, a)
            return j, True
        self.swap(i, j)
        i, j = self._scan(a, i + 1, j - 1)
        while i <= j:
            self.swap(i, j)
            i, j = self._scan(a, i + 1, j - 1)
        self.swap(j, a)
        return j, False

    def _scan(self, a: int, i: int, j: int) -> tuple[int, int]:
        while i <= j and self.less(i, a):
            i += 1
        while i <= j and not self.less(j, a):
            j -= 1
        return i, j
