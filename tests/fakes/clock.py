"""Time that moves only when told."""

from datetime import datetime, timedelta


class FakeClock:
    """Call it for epoch seconds; ``monotonic`` and ``local`` are other readings of the same moment."""

    def __init__(self, epoch: float = 1_700_000_000.0) -> None:
        self.epoch = epoch
        self._passed = 0.0

    def __call__(self) -> float:
        return self.epoch

    def monotonic(self) -> float:
        return self._passed

    def local(self) -> datetime:
        return datetime(2026, 1, 2, 15, 4, 5) + timedelta(seconds=self._passed)  # noqa: DTZ001  (P-13: no zone)

    def advance(self, seconds: float) -> None:
        self.epoch += seconds
        self._passed += seconds
