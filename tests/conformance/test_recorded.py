"""Every recorded decision and answer of the reference, replayed; the cases are never edited to pass."""

import gzip
import re
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest
from django.core.management import call_command

DATA = Path(__file__).parent / "data"
PARITY = DATA.parents[2] / "docs/parity.md"
FAMILIES = sorted(
    path.relative_to(DATA).as_posix().removesuffix(".json.gz")
    for path in DATA.glob("*/*.json.gz")
    if path.name != "configs.json.gz"
)

pytestmark = pytest.mark.conformance


def test_the_cases_with_which_to_begin_pass(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("conformance", DATA, cases=DATA / "first.txt")
    assert capsys.readouterr().out.splitlines()[-1] == "503 passed, 0 failed"


def test_every_recorded_case_passes_and_fixes_decide_only_where_they_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All families at once: the devices are built once for each configuration."""
    try:
        call_command("conformance", DATA, verbosity=2)
    finally:
        lines = capsys.readouterr().out.splitlines()
        assert lines[-1] == f"{recorded()} passed, 0 failed", "\n".join(lines[:20])
    assert not [line for line in lines if "a fix not named for it" in line]


def recorded() -> int:
    """Return how many cases the files hold, counted without the code under test."""
    total = 0
    for family in FAMILIES:
        data = orjson.loads(gzip.decompress((DATA / f"{family}.json.gz").read_bytes()))
        total += len(data if isinstance(data, list) else data["cases"])
    return total


def test_every_rule_named_for_a_case_is_a_documented_difference() -> None:
    documented = set(re.findall(r"\b(?:[A-Z]+-?)\d+\b", PARITY.read_text()))
    assert set(named()) <= documented


def named() -> Iterable[str]:
    for path in DATA.glob("*/quirks.json"):
        for rules in orjson.loads(path.read_bytes())["cases"].values():
            yield from [rules] if isinstance(rules, str) else rules
