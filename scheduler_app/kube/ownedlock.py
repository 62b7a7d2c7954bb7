"""The shared node lock, which names its owner (B-10 to B-13). Called with the node's mutex held."""

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta

from scheduler_app.core.duration import format_seconds
from scheduler_app.core.errors import CodecError, HamiError, LockContentionError
from scheduler_app.core.types import NodeName, Pod
from scheduler_app.kube import locktext
from scheduler_app.kube.errors import ApiError, NodeLockError
from scheduler_app.kube.lockboard import Held, LockBoard, LockTiming
from scheduler_app.kube.locktext import LockText

logger = logging.getLogger(__name__)
ATTEMPTS = 5
FIRST_SECONDS = 0.1
JITTER = 0.5
SECOND = timedelta(seconds=1)
STRATEGY = "{Duration:100ms Factor:2 Jitter:0.5 Steps:5 Cap:0s}"  # as the reference prints it


class OwnedLock:
    """One annotation on one node. ``timeout_seconds`` is the age after which it may be taken over."""

    def __init__(
        self, board: LockBoard, *, node: NodeName, annotation: str, timeout_seconds: float, timing: LockTiming
    ) -> None:
        self._board = board
        self._node = node
        self._annotation = annotation
        self._timeout_seconds = timeout_seconds
        self._timing = timing

    def acquire(self, pod: Pod) -> bool:
        """Take the lock; False: the pod holds it already and nothing was written (B-11)."""
        held = self._read()
        if held.text is not None:
            if not self._may_take_over(held.text, pod):
                return False
            self._remove(held, is_wanted=lambda text: text == held.text)
            held = self._read()
            if held.text is not None:  # somebody was faster; what they wrote stays (L07)
                raise self._is_locked()
        self._set(held, pod)
        return True

    def release(self, pod: Pod) -> None:
        """Remove the lock if it is the pod's own, whenever it was written (B-13, L02)."""
        held = self._read()
        if held.text is not None and locktext.is_owned(held.text, pod):
            self._remove(held, is_wanted=lambda text: locktext.is_owned(text, pod))

    def _may_take_over(self, text: str, pod: Pod) -> bool:
        """Say whether the lock is void; False: it is the pod's own.

        Raises:
            LockContentionError: it holds.
        """
        lock = self._lock_in(text)
        if lock is None:
            return True
        age = self._timing.now() - lock.time
        if age > timedelta(seconds=self._timeout_seconds):
            logger.warning(
                "lock expired node=%s lock=%s age_seconds=%d pod=%s", self._node, text, age / SECOND, pod.key
            )
            return True
        if (lock.namespace, lock.name) == (pod.namespace, pod.name):
            return False
        if lock.has_owner and not self._board.has_pod(lock.namespace, lock.name):
            return True
        logger.info(
            "lock held node=%s lock=%s age_seconds=%d pod=%s", self._node, text, age / SECOND, pod.key
        )
        within = format_seconds(self._timeout_seconds)
        raise LockContentionError(f"node {self._node} has been locked within {within}: node lock contention")

    def _lock_in(self, text: str) -> LockText | None:
        """Read the lock. A malformed one is reported and has no owner; without a time it is void (Q-15)."""
        try:
            return locktext.parse_lock(text)
        except CodecError as exc:
            self._board.report(self._node, str(exc))
        try:
            return LockText(locktext.parse_time(text.partition(",")[0]))
        except CodecError:
            return None

    def _set(self, held: Held, pod: Pod) -> None:
        """Write the lock against what was read; a lost answer shows as a lock of our own (B-12)."""
        last: HamiError | None = None
        for attempt in self._attempts():
            try:
                if attempt:
                    held = self._read()
                if held.text is not None:
                    if locktext.is_owned(held.text, pod):
                        return
                    raise LockContentionError(self._failed_to("set", self._is_locked()))
                text = locktext.format_lock(pod, now=self._timing.now())
                self._board.write(self._node, self._annotation, text, version=held.version)
            except ApiError as exc:
                last = exc
            else:
                return
        raise NodeLockError(self._failed_to("set", last)) from last

    def _remove(self, held: Held, *, is_wanted: Callable[[str], bool]) -> None:
        """Remove the lock as long as it is the one meant; what changed hands meanwhile stays (B-13)."""
        last: HamiError | None = None
        for attempt in self._attempts():
            try:
                if attempt:
                    held = self._read()
                if held.text is None or not is_wanted(held.text):
                    return
                self._board.write(self._node, self._annotation, None, version=held.version)
            except ApiError as exc:
                last = exc
            else:
                return
        raise NodeLockError(self._failed_to("release", last)) from last

    def _read(self) -> Held:
        return self._board.read(self._node, self._annotation)

    def _attempts(self) -> Iterator[int]:
        for attempt in range(ATTEMPTS):
            if attempt:
                pause = FIRST_SECONDS * 2 ** (attempt - 1)
                self._timing.sleep(pause * (1 + JITTER * self._timing.rng.random()))
            yield attempt

    def _is_locked(self) -> LockContentionError:
        return LockContentionError(f"node {self._node} is locked: node lock contention")

    def _failed_to(self, verb: str, why: object) -> str:
        return f"failed to {verb} node lock (node={self._node}, retry strategy={STRATEGY}): {why}"
