"""What node locks read and write, and how patiently: shared by both kinds of lock."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from scheduler_app.core.types import NodeName
from scheduler_app.kube import decode, paths
from scheduler_app.kube.client import KubeClient
from scheduler_app.kube.errors import NotFoundError
from scheduler_app.kube.patch import patch_metadata


@dataclass(frozen=True, slots=True)
class Held:
    """An annotation as it was read; ``text`` None: it is not there. ``version`` is the node's."""

    text: str | None
    version: str


@dataclass(frozen=True, slots=True)
class LockTiming:
    """``now`` is local time with its offset, which is what goes into the lock (P-11)."""

    now: Callable[[], datetime] = lambda: datetime.now().astimezone()
    sleep: Callable[[float], object] = time.sleep
    rng: random.Random = field(default_factory=random.Random)


class LockBoard:
    """The lock annotations of nodes. Every call may raise ``ApiError``."""

    def __init__(self, client: KubeClient, *, report: Callable[[NodeName, str], None]) -> None:
        self._client = client
        self.report = report

    def read(self, node: NodeName, annotation: str) -> Held:
        found = decode.decode_node(self._client.get(paths.node(node)))
        return Held(found.annotations.get(annotation), found.resource_version)

    def write(self, node: NodeName, annotation: str, text: str | None, *, version: str = "") -> None:
        """Set or, with None, remove the annotation; with ``version`` only if the node is still at it."""
        patch_metadata(
            self._client, paths.node(node), annotations={annotation: text}, resource_version=version
        )

    def has_pod(self, namespace: str, name: str) -> bool:
        try:
            self._client.get(paths.pod(namespace, name))
        except NotFoundError:
            return False
        return True
