"""The console on a made-up cluster that moves: ``python -m tests.dashboard.devserver``.

For work on pages, and for browser tests; nothing of a scheduler runs. One may look without signing in.
On standard input: ``pause``, ``resume``, ``step`` for one move, ``place NODE`` for one pod.
"""

import argparse
import os
import tempfile
from pathlib import Path

os.environ.setdefault("CONSOLE_OPEN", "true")
os.environ.setdefault("CLUSTER_NAME", "prod-a")
os.environ.setdefault("DB_NAME", str(Path(tempfile.gettempdir()) / "hami-devserver.sqlite3"))

import hami_site.asgi  # noqa: F401  (sets Django up, with the environment above)
from tests.dashboard.mover import serve

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The console on a made-up cluster")
    parser.add_argument("--port", type=int, default=8010)
    parser.add_argument("--scale", type=int, default=1, help="times sixty nodes")
    parser.add_argument("--paused", action="store_true", help="move only when told")
    given = parser.parse_args()
    serve(port=given.port, scale=given.scale, is_paused=given.paused)
