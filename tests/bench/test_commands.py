"""Benchmarks that need no process beside them, as they are typed: one line of JSON comes last."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
COMMANDS = [("fit", "--rounds", "3"), ("registration", "--nodes", "3", "--passes", "1")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_the_last_line_is_the_figures(command: tuple[str, ...]) -> None:
    bare = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"}
    name, *options = command
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{name}", *options],
        cwd=ROOT,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["benchmark"] == name
    assert figures["median_ms"] > 0
