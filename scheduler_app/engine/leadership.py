"""Who leads, as observed on a Lease that the sibling kube-scheduler holds (rules L-1 to L-7, Q-10, Q-11)."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.types import Lease


@dataclass(frozen=True, slots=True)
class Observed:
    """The lease and when we saw it last: monotonic for the rule, epoch for people."""

    lease: Lease
    seen_monotonic: float
    seen_epoch: float


class Leadership:
    """Leader or follower, and synced or not: both in one place, since losing the first ends the second.

    The lease reflector calls ``observe`` and ``lost``; any thread may ask.
    """

    def __init__(
        self,
        *,
        config: SchedulerConfig,
        on_started: Callable[[], None],
        monotonic: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        self._config = config
        self._on_started = on_started
        self._monotonic = monotonic
        self._clock = clock
        self._lock = threading.Lock()
        self._observed: Observed | None = None
        self._synced = threading.Event()

    @property
    def observed(self) -> Observed | None:
        return self._observed

    @property
    def is_leader(self) -> bool:
        """An expired lease ends leadership at once (Q-11); without election everybody leads (L-2)."""
        if not self._config.leader_elect:
            return True
        seen = self._observed
        if seen is None or not self._is_ours(seen.lease):
            return False
        return self._monotonic() < seen.seen_monotonic + (seen.lease.duration_seconds or 0)

    @property
    def is_synced(self) -> bool:
        if self._synced.is_set() and not self.is_leader:
            self._synced.clear()
        return self._synced.is_set()

    def set_synced(self) -> None:
        """Note that a registration pass ended; ignored when leadership was lost meanwhile (L-7)."""
        with self._lock:
            if self.is_leader:
                self._synced.set()

    def wait_synced(self, timeout_seconds: float) -> bool:
        """Wait for the first pass on a leader; a replica that does not lead is told so at once."""
        if self.is_synced:
            return True
        return self.is_leader and self._synced.wait(timeout_seconds) and self.is_synced

    def why_not_synced(self) -> str:
        """Return what to tell whoever needs a synced leader, empty when this is one."""
        if not self.is_leader:
            holder = self._observed.lease.holder if self._observed else ""
            return f"not the leader: the lease is held by {holder or 'nobody'}"
        return "" if self.is_synced else "not synced: no registration pass has ended yet"

    def observe(self, lease: Lease) -> None:
        """Take the lease as the watch shows it, also unchanged: every renewal restarts the clock (L-5)."""
        with self._lock:
            before = self._observed
            was_ours = before is not None and self._is_ours(before.lease)
            had_expired = before is not None and not self.is_leader
            if before is not None and before.lease == lease and lease.renew_time:
                return  # a relist or resync shows the same renewal again; it must not prolong it
            is_ours = self._is_ours(lease)
            if had_expired or not is_ours:
                self._synced.clear()  # whoever leads again after a gap needs a pass of the new term
            self._observed = Observed(lease, self._monotonic(), self._clock())
        if is_ours and (not was_ours or had_expired):
            self._on_started()

    def lost(self) -> None:
        """The lease was deleted: nobody leads, and that includes us (L-5)."""
        with self._lock:
            self._observed = None
            self._synced.clear()

    def _is_ours(self, lease: Lease) -> bool:
        host = self._config.host_name
        return bool(host) and (lease.holder == host or lease.holder.startswith(f"{host}_"))
