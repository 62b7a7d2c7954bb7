"""The console on a made-up cluster that moves: ``python -m tests.dashboard.devserver [port] [scale]``.

For work on pages, and for browser tests; nothing of a scheduler runs. One may look without signing in.
``pause`` and ``resume`` on standard input stop and start the movement; ``step`` makes one move.
"""

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("CONSOLE_OPEN", "true")
os.environ.setdefault("CLUSTER_NAME", "prod-a")
os.environ.setdefault("DB_NAME", str(Path(tempfile.gettempdir()) / "hami-devserver.sqlite3"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hami_site.settings")

import uvicorn
from django.core.management import call_command

from dashboard.live.hub import hub, now_ms
from dashboard.live.publisher import LayerPublisher
from hami_site.asgi import console
from scheduler_app.core.publication import Publication
from tests.dashboard.clusters import Cluster

TICK_SECONDS = 1.0


class Mover:
    """Publishes a step a second while it is not paused."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._moves = threading.Event()
        self._moves.set()

    def whole(self) -> Publication:
        with self._lock:
            return self._cluster.whole()

    def run(self) -> None:
        while True:
            self._moves.wait()
            self.step()
            time.sleep(TICK_SECONDS)

    def step(self) -> None:
        with self._lock:
            publication = self._cluster.step(now_ms())
        LayerPublisher().publish(publication)

    def obey(self) -> None:
        for line in sys.stdin:
            if line.strip() == "pause":
                self._moves.clear()
            elif line.strip() == "resume":
                self._moves.set()
            elif line.strip() == "step":
                self.step()


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8010
    mover = Mover(Cluster(scale=int(sys.argv[2]) if len(sys.argv) > 2 else 1, now_ms=now_ms()))
    call_command("migrate", verbosity=0)
    hub.source = mover.whole
    for work in (mover.run, mover.obey):
        threading.Thread(target=work, name=f"made-up-{work.__name__}", daemon=True).start()
    uvicorn.run(console, host="127.0.0.1", port=port, access_log=False, ws_per_message_deflate=False)


if __name__ == "__main__":
    main()
