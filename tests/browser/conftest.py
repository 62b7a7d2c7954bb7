"""A console of its own process, on a made-up cluster that moves when told, and a real Chromium."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Console:
    """The console at ``url``. It may be stopped and started again there, as a new leader would be."""

    def __init__(self, database: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {**os.environ, "CONSOLE_OPEN": "true", "DB_NAME": str(database)}

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.dashboard.devserver", "--port", str(self.port), "--paused"]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            wait_until(self._answers, seconds=60)
        except AssertionError:
            self.stop()
            raise

    def stop(self) -> None:
        self._process.terminate()
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(10)

    def tell(self, line: str) -> None:
        """Say ``step`` or ``place NODE``."""
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/summary", timeout=2):  # noqa: S310  (our own)
                return True
        except (urllib.error.URLError, ConnectionError):
            return False


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start the system's Chromium once; never a browser that a package downloads."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        assert os.environ.get("HAMI_REQUIRE_ALL") != "1", "Chromium is required here"
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    running = Console(tmp_path / "console.sqlite3")
    running.start()
    yield running
    running.stop()
