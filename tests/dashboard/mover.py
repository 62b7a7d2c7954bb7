"""A made-up cluster behind a running console: what ``devserver`` serves."""

import secrets
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

import uvicorn
from django.core.management import call_command

from dashboard.live.hub import hub, now_ms
from dashboard.live.publisher import LayerPublisher
from hami_site.asgi import console
from scheduler_app.core.publication import Publication
from tests.dashboard.clusters import Cluster

TICK_SECONDS = 1.0


class Mover:
    """Publishes a step a second while it is not paused; obeys lines on standard input."""

    def __init__(self, cluster: Cluster, *, is_paused: bool) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._moves = threading.Event()
        if not is_paused:
            self._moves.set()

    def whole(self) -> Publication:
        with self._lock:
            return self._cluster.whole()

    def run(self) -> None:
        while True:
            self._moves.wait()
            self._publish(self._cluster.step)
            time.sleep(TICK_SECONDS)

    def obey(self) -> None:
        for line in sys.stdin:
            command, _, name = line.strip().partition(" ")
            if command == "pause":
                self._moves.clear()
            elif command == "resume":
                self._moves.set()
            elif command == "step":
                self._publish(self._cluster.step)
            elif command == "place":
                self._publish(partial(self._cluster.place, name))

    def _publish(self, make: Callable[[int], Publication]) -> None:
        with self._lock:
            publication = make(now_ms())
        LayerPublisher().publish(publication)


def serve(*, port: int, scale: int, is_paused: bool) -> None:
    """Serve until SIGTERM, each time as a new leader with an epoch of its own."""
    mover = Mover(Cluster(scale=scale, now_ms=now_ms(), epoch=secrets.token_hex(4)), is_paused=is_paused)
    call_command("migrate", verbosity=0)
    hub.source = mover.whole
    for work in (mover.run, mover.obey):
        threading.Thread(target=work, name=f"made-up-{work.__name__}", daemon=True).start()
    uvicorn.run(console, host="127.0.0.1", port=port, access_log=False, ws_per_message_deflate=False)
