"""Every recorded decision and answer of the reference, replayed; the cases are never edited to pass."""

import gzip
from pathlib import Path

import orjson
import pytest
from django.core.management import call_command

DATA = Path(__file__).parent / "data"
FAMILIES = sorted(
    path.relative_to(DATA).as_posix().removesuffix(".json.gz")
    for path in DATA.glob("*/*.json.gz")
    if path.name not in ("configs.json.gz", "quirks.json.gz")
)

pytestmark = pytest.mark.conformance


def test_the_cases_with_which_to_begin_pass(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("conformance", DATA, cases=DATA / "first.txt")
    assert capsys.readouterr().out.splitlines()[-1] == "503 passed, 0 failed"


def test_every_recorded_case_passes(capsys: pytest.CaptureFixture[str]) -> None:
    """All families at once: the devices are built once for each configuration."""
    try:
        call_command("conformance", DATA)
    finally:
        lines = capsys.readouterr().out.splitlines()
        assert lines[-1] == f"{recorded()} passed, 0 failed", "\n".join(lines[:20])


def recorded() -> int:
    """Return how many cases the files hold, counted without the code under test."""
    total = 0
    for family in FAMILIES:
        data = orjson.loads(gzip.decompress((DATA / f"{family}.json.gz").read_bytes()))
        total += len(data if isinstance(data, list) else data["cases"])
    return total


def test_an_unknown_member_is_a_failure_and_not_a_skip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "filter/misc.json.gz"
    cases = orjson.loads(gzip.decompress((DATA / name).read_bytes()))[:2]
    cases[0]["surprise"] = True
    target = tmp_path / "filter"
    target.mkdir()
    (target / "misc.json").write_bytes(orjson.dumps(cases))
    (target / "configs.json.gz").write_bytes((DATA / "filter/configs.json.gz").read_bytes())
    with pytest.raises(SystemExit):
        call_command("conformance", tmp_path)
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed"
