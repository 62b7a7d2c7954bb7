"""The demo as a user starts it: its own process, database, ports and files."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.e2e_inprocess.product import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
END_SECONDS = 5.0
Json = dict[str, Any]


class Demo:
    """``manage.py demo`` on three nodes; ``told`` is its demo.json."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._environment = {**os.environ, "DB_NAME": str(directory / "demo.sqlite3")}
        self.told: dict[str, str] = {}

    def start(self) -> None:
        subprocess.run(self._manage("migrate", "-v0"), cwd=ROOT, env=self._environment, check=True)
        options = ("--port-base", str(port_base()), "--fleet", "nvidia:3x8", "--seed", "7")
        with (self._directory / "log").open("wb") as log:
            self._process = subprocess.Popen(
                self._manage("demo", *options, "--var", str(self._directory / "var")),
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        try:
            wait_until(self._is_ready, seconds=120)
        except AssertionError:
            self._process.kill()
            self._process.wait(10)
            raise

    def stop(self) -> float:
        """Press Ctrl-C; return the seconds until the process has ended well."""
        began = time.monotonic()
        self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(30)
        finally:
            self._process.kill()
        assert code == 0, self._log()
        assert "webhook failed" not in self._log(), "the workload went on when nobody was there to admit it"
        return time.monotonic() - began

    def create(self, name: str, limits: dict[str, str], **annotations: str) -> None:
        """Create a pod in namespace ``default``, as kubectl would."""
        container = {"name": "main", "image": "x", "resources": {"limits": limits}}
        meta = {"name": name, "namespace": "default", "annotations": annotations}
        self.api("/api/v1/namespaces/default/pods", {"metadata": meta, "spec": {"containers": [container]}})

    def pod(self, name: str) -> Json:
        return self.api(f"/api/v1/namespaces/default/pods/{name}")

    def is_bound(self, name: str) -> bool:
        """Say whether the device plugin has given a pod its cards."""
        written = self.pod(name)["metadata"].get("annotations", {})
        return bool(written.get("hami.io/bind-phase") == "success")

    def api(self, path: str, body: Json | None = None) -> Json:
        """Ask the embedded API server; a body is posted."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310  (our own)
            self.told["api"] + path, data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  (our own)
            found: Json = json.load(answer)
        return found

    def _manage(self, *arguments: str) -> list[str]:
        return [sys.executable, "manage.py", *arguments]

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, self._log()
        path = self._directory / "var" / "demo.json"
        try:
            self.told = json.loads(path.read_text(encoding="utf-8"))
            with urllib.request.urlopen(f"{self.told['extender']}/readyz", timeout=2):  # noqa: S310  (our own)
                return True
        except (FileNotFoundError, ValueError, urllib.error.URLError, ConnectionError):
            return False

    def _log(self) -> str:
        return (self._directory / "log").read_text(encoding="utf-8", errors="replace")[-4000:]


def port_base() -> int:
    """Return a free port with room above it for the three that follow."""
    while (port := free_port()) > 65_000:
        continue
    return port
