"""The product as users run it: ``manage.py runscheduler`` with its own doors, against a given API server."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.client import Client
from scheduler_app import vendortable

ROOT = Path(__file__).resolve().parent.parent
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 1024 / 1024
STOP_SECONDS = 15
IDLE_SECONDS, IDLE_SHARE, IDLE_TRIES = 0.5, 0.1, 60


class Product:
    """A process with an empty database of its own; ``ready_seconds`` is how long it took to be synced."""

    def __init__(self, api_url: str, *flags: str) -> None:
        self._api_url = api_url
        self._flags = flags
        self.extender, self.metrics, console = _free_ports(3)
        self._console = console
        self.ready_seconds = 0.0

    def __enter__(self) -> Self:
        self._home = tempfile.mkdtemp(prefix="hami-bench-")
        self._env = {
            **os.environ,
            "KUBE_API": self._api_url,
            "SECRET_KEY": "for-benchmarks-only",
            "DB_NAME": f"{self._home}/bench.sqlite3",
        }
        self._manage("migrate", "--verbosity=0").wait()
        self._log = Path(self._home, "log").open("wb")
        self._process = self._manage(
            "runscheduler",
            f"--http_bind=127.0.0.1:{self.extender}",
            f"--metrics-bind-address=127.0.0.1:{self.metrics}",
            f"--console-bind=127.0.0.1:{self._console}",
            "--scheduler-name=hami-scheduler",
            f"--device-config-file={vendortable.CONFIG}",
            *(f"--{flag}" for flag in vendortable.all_enabled()),
            *self._flags,
        )
        self.started = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        if error is not None:
            sys.stderr.write(Path(self._home, "log").read_text(errors="replace")[-4000:])
        shutil.rmtree(self._home, ignore_errors=True)

    def wait_ready(self, timeout_seconds: float = 120.0) -> None:
        """Wait until /readyz says yes.

        Raises:
            TimeoutError: it does not in time.
        """
        while time.monotonic() < self.started + timeout_seconds:
            try:
                with Client(self.extender) as client:
                    if client.get("/readyz").status == 200:
                        self.ready_seconds = time.monotonic() - self.started
                        return
            except OSError:
                pass
            time.sleep(0.05)
        raise TimeoutError("the product is not ready")

    def wait_idle(self) -> None:
        """Wait until the start is over, the console's first picture too, but not for ever."""
        self.wait_ready()
        for _ in range(IDLE_TRIES):
            before = self.cpu_seconds
            time.sleep(IDLE_SECONDS)
            if self.cpu_seconds - before < IDLE_SHARE * IDLE_SECONDS:
                return

    @property
    def cpu_seconds(self) -> float:
        """CPU of all threads so far, user and system."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def rss_mib(self) -> float:
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * _PAGE_MIB

    def _manage(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = getattr(self, "_log", subprocess.DEVNULL)
        return subprocess.Popen(  # noqa: S603  (our own command)
            [sys.executable, "manage.py", *arguments], cwd=ROOT, env=self._env, stdout=log, stderr=log
        )


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    return ports
