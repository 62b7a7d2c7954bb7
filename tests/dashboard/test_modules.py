"""The browser's modules: tests that Node.js runs, and what holds for each file."""

import gzip
import json
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


FORMAT = """
const format = await import(process.argv[1]);
const cases = JSON.parse(process.argv[2]);
console.log(JSON.stringify(cases.map(([name, value]) => format[name](value))));
"""
AMOUNTS = (0, 1, 999, 1000, 1024, 40_960, 102_400, 1_258_291, None)
PAIRS = ((0, 0), (0, 8), (1, 8), (3, 8), (5, 8), (1, 200), (3, 200), (7, 7), (9, 8))


@pytest.fixture
def node() -> str:
    found = shutil.which("node")
    if found is None:
        assert os.environ.get("HAMI_REQUIRE_ALL") != "1", "node is required here"
        pytest.skip("node is not installed")
    return found


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_store_and_the_atlas_s_arithmetic_hold(node: str) -> None:
    run(
        node,
        "--test",
        *sorted(str(path) for path in (ROOT / "tests" / "dashboard" / "js").glob("*.test.mjs")),
    )


def test_server_and_browser_write_a_value_alike(node: str) -> None:
    """A row that both write must not change, and so flash, when only the writer does."""
    written = [
        *(("number", amount, presenters.number(amount)) for amount in AMOUNTS),
        *(("memory", amount, presenters.memory(amount)) for amount in AMOUNTS),
        *(("tenths", value, presenters.tenths(value)) for value in (0.0, 0.4, 12.0, 1234.5, None)),
        *(("percent", pair, presenters.percent(*pair)) for pair in PAIRS),
        *(("ratio", pair, presenters.ratio(*pair)) for pair in PAIRS),
    ]
    cases = json.dumps([case[:2] for case in written])
    told = run(node, "--input-type=module", "-e", FORMAT, str(STATIC / "js" / "format.js"), cases)
    assert json.loads(told) == [case[2] for case in written]


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
