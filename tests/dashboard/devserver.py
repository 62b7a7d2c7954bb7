"""The console on a made-up cluster that moves: ``python -m tests.dashboard.devserver [port] [scale]``.

For work on pages; nothing of a scheduler runs. One may look without signing in.
"""

import os
import sys
import threading
import time

os.environ.setdefault("CONSOLE_OPEN", "true")
os.environ.setdefault("CLUSTER_NAME", "prod-a")
os.environ.setdefault("DB_NAME", "/tmp/hami-devserver.sqlite3")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hami_site.settings")

import uvicorn  # noqa: E402  (the settings read the environment above)

from hami_site.asgi import console  # noqa: E402  (sets Django up)

from dashboard.live.hub import hub  # noqa: E402, I001
from dashboard.live.publisher import LayerPublisher  # noqa: E402
from django.core.management import call_command  # noqa: E402
from tests.dashboard.clusters import Cluster  # noqa: E402

TICK_SECONDS = 1.0


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8010
    cluster = Cluster(scale=int(sys.argv[2]) if len(sys.argv) > 2 else 1, now_ms=now_ms())
    call_command("migrate", verbosity=0)
    lock, stop = threading.Lock(), threading.Event()

    def whole() -> object:
        with lock:
            return cluster.whole()

    def move() -> None:
        while not stop.wait(TICK_SECONDS):
            with lock:
                publication = cluster.step(now_ms())
            LayerPublisher().publish(publication)

    hub.source = whole  # type: ignore[assignment]  # a Publication; said loosely to keep the closure short
    thread = threading.Thread(target=move, name="made-up-cluster", daemon=True)
    thread.start()
    uvicorn.run(console, host="127.0.0.1", port=port, access_log=False, ws_per_message_deflate=False)
    stop.set()


if __name__ == "__main__":
    main()
