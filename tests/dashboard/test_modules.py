"""The browser's modules: tests that Node.js runs, and what holds for each file."""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dashboard import presenters

ROOT = Path(__file__).resolve().parent.parent.parent
STATIC = ROOT / "dashboard" / "static" / "dashboard"
SCRIPT_BYTES = 60 * 1024
STYLE_BYTES = 20 * 1024


def test_the_store_and_the_atlas_s_arithmetic_hold() -> None:
    node = shutil.which("node")
    if node is None:
        assert os.environ.get("HAMI_REQUIRE_ALL") != "1", "node is required here"
        pytest.skip("node is not installed")
    files = sorted(str(path) for path in (ROOT / "tests" / "dashboard" / "js").glob("*.test.mjs"))
    done = subprocess.run([node, "--test", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize(("pattern", "limit"), [("js/*.js", SCRIPT_BYTES), ("css/*.css", STYLE_BYTES)])
def test_what_a_browser_loads_stays_small(pattern: str, limit: int) -> None:
    """Console.md 14."""
    assert sum(len(gzip.compress(path.read_bytes())) for path in STATIC.glob(pattern)) < limit


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.*")), ids=lambda path: path.name)
def test_no_file_reaches_for_another_host_or_builds_markup_from_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.search(r"https?://(?!www\.w3\.org/2000/svg)", text) is None
    assert re.search(r"\beval\(|innerHTML\s*=|insertAdjacentHTML|document\.write|new Function", text) is None


@pytest.mark.parametrize(
    ("mib", "text"),
    [(40960, "40.0 GiB"), (1258291, "1.2 TiB"), (None, "—"), (0, "0.0 GiB"), (204800, "200 GiB")],
)
def test_memory_reads_as_in_the_browser(mib: int | None, text: str) -> None:
    assert presenters.memory(mib) == text


@pytest.mark.parametrize(
    ("ms", "text"), [(0, "0 s"), (59_999, "59 s"), (60_000, "1 min"), (172_800_000, "2 d")]
)
def test_ages_read_as_in_the_browser(ms: int, text: str) -> None:
    assert presenters.age(ms) == text
