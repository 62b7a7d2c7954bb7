"""A vendor's own node lock that holds a time and nothing else (MLU-30 to MLU-32).

Since the annotation does not name an owner, we remember what we wrote and for whom, and release nothing else
(Q-18). Called with the node's mutex held.
"""

import logging
from collections.abc import Iterator
from datetime import timedelta

from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import Node, NodeName, Pod
from scheduler_app.kube import locktext
from scheduler_app.kube.errors import ApiError, NodeLockError
from scheduler_app.kube.lockboard import LockBoard, LockTiming

logger = logging.getLogger(__name__)
RETRIES = 5
RETRY_SECONDS = 0.01


class TimedLock:
    """One annotation on one node, valid ``timeout_seconds`` from the time it holds."""

    def __init__(
        self, board: LockBoard, *, node: NodeName, annotation: str, timeout_seconds: float, timing: LockTiming
    ) -> None:
        self._board = board
        self._node = node
        self._annotation = annotation
        self._timeout_seconds = timeout_seconds
        self._timing = timing
        self._ours: tuple[str, str] | None = None  # pod key and uid, and the text we wrote for it

    def acquire(self, node: Node, pod: Pod) -> None:
        """Take the lock.

        Raises:
            NodeLockError: it holds, or cannot be written. Not contention: a pod group does not wait (MLU-30).
        """
        text = self._text(node)
        if text is not None:
            self._raise_if_valid(text)
            self._remove()
        self._set(pod)

    def release(self, pod: Pod) -> None:
        try:
            text = self._board.read(self._node, self._annotation).text
        except ApiError as exc:
            raise NodeLockError(f"failed to get node for lock release: {exc}") from exc
        if text is not None and self._ours == (_owner(pod), text):
            self._remove()
            self._ours = None

    def _text(self, node: Node) -> str | None:
        """Return the lock as the API server has it, else the caller's copy, which may be old (MLU-E30)."""
        try:
            return self._board.read(self._node, self._annotation).text
        except ApiError as exc:
            logger.warning("lock not read, using the cached node node=%s error=%s", self._node, exc)
            return node.annotations.get(self._annotation)

    def _raise_if_valid(self, text: str) -> None:
        try:
            age = self._timing.now() - locktext.parse_time(text)
        except CodecError as exc:  # void, or it would stay for ever
            self._board.report(self._node, str(exc))
            return
        if age <= timedelta(seconds=self._timeout_seconds):
            minutes = f"{self._timeout_seconds / 60:g}"
            raise NodeLockError(f"node {self._node} has been locked within {minutes} minutes")

    def _set(self, pod: Pod) -> None:
        text = locktext.format_time(self._timing.now())
        for _ in self._attempts():
            try:
                self._board.write(self._node, self._annotation, text)
            except ApiError as exc:
                logger.warning("lock not written node=%s error=%s", self._node, exc)
            else:
                self._ours = (_owner(pod), text)
                return
        raise NodeLockError(f"setNodeLock exceeds retry count {RETRIES}")

    def _remove(self) -> None:
        for attempt in self._attempts():
            if attempt and not self._is_there():
                return
            try:
                self._board.write(self._node, self._annotation, None)
            except ApiError as exc:
                logger.warning("lock not removed node=%s error=%s", self._node, exc)
            else:
                return
        raise NodeLockError(f"releaseNodeLock exceeds retry count {RETRIES}")

    def _is_there(self) -> bool:
        try:
            return bool(self._board.read(self._node, self._annotation).text)
        except ApiError as exc:
            raise NodeLockError(f"failed to re-get node during release retry: {exc}") from exc

    def _attempts(self) -> Iterator[int]:
        """Yield once, then five times more, each after a random 0 to i times 10 ms (MLU-31)."""
        yield 0
        for retry in range(RETRIES):
            self._timing.sleep(self._timing.rng.random() * retry * RETRY_SECONDS)
            yield retry + 1


def _owner(pod: Pod) -> str:
    return f"{pod.key} {pod.uid}"
