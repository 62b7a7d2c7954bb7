"""A real Chromium, and two consoles in processes of their own: on a made-up cluster, and the demo's."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.browser.demo import END_SECONDS, ROOT, Demo
from tests.browser.pages import LIVE, OpenPage, watched
from tests.waiting import wait_until

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


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    running = Console(tmp_path_factory.mktemp("console") / "console.sqlite3")
    running.start()
    yield running
    running.stop()


@pytest.fixture
def open_page(chromium: Any, console: Console) -> Iterator[OpenPage]:
    """Return a way to open a page of the made-up cluster's console."""
    with watched(chromium, console.url) as pages:
        yield pages.open


@pytest.fixture(scope="session")
def demo(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Run the demo for all tests, if there is a browser; Ctrl-C must end it soon."""
    running = Demo(tmp_path_factory.mktemp("demo"))
    running.start()
    yield running
    assert running.stop() < END_SECONDS


@pytest.fixture(scope="session")
def signed_in(chromium: Any, demo: Demo) -> Any:
    """Sign in by the form, once; return the cookies."""
    with watched(chromium, demo.told["console"]) as pages:
        page = pages.open("/login")
        page.fill("[name=username]", demo.told["user"])
        page.fill("[name=password]", demo.told["password"])
        page.keyboard.press("Enter")
        page.wait_for_selector(LIVE)
        return page.context.storage_state()


@pytest.fixture
def open_demo(chromium: Any, demo: Demo, signed_in: Any) -> Iterator[OpenPage]:
    """Return a way to open a page of the demo's console, signed in."""
    with watched(chromium, demo.told["console"]) as pages:
        yield partial(pages.open, storage_state=signed_in)
