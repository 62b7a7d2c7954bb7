"""Finding and reading recorded cases: ``<folder>/<suite>/<family>.json``, or the same as ``.json.gz``."""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from scheduler_app.core.errors import HamiError

Json = dict[str, Any]
SUITES = ("filter", "surface")
NOT_CASES = frozenset(("configs", "quirks"))


class DataError(HamiError):
    """The folder does not hold what a replay needs; the text names the file."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case; ``configs`` are the device configurations of its suite, name to text."""

    suite: str
    family: str
    raw: Json
    configs: dict[str, str]

    @property
    def id(self) -> str:
        return str(self.raw["id"])

    @property
    def quirks(self) -> frozenset[str]:
        return frozenset(self.raw.get("quirks", ()))


def load(folder: Path, *, only: str = "", names: frozenset[str] | None = None) -> Iterator[Case]:
    """Yield the cases whose id starts with ``only``, and of ``names`` if given; families ascending."""
    found = 0
    for suite in SUITES:
        files = _files(folder / suite)
        if not files:
            continue
        configs = _configs(files)
        quirks = _quirks(files)
        for family, path in sorted(files.items()):
            if family in NOT_CASES:
                continue
            found += 1
            for raw in _cases(_read(path)):
                if raw["id"].startswith(only) and (names is None or raw["id"] in names):
                    _tag(raw, quirks)
                    yield Case(suite, family, raw, configs)
    if not found:
        raise DataError(f"{folder}: no recorded cases in {' or '.join(SUITES)}")


def read_names(path: Path) -> frozenset[str]:
    """Read a list of case ids, one a line."""
    return frozenset(line.strip() for line in path.read_text().splitlines() if line.strip())


def _files(folder: Path) -> dict[str, Path]:
    paths: Sequence[Path] = sorted(folder.glob("*.json")) + sorted(folder.glob("*.json.gz"))
    return {path.name.split(".")[0]: path for path in paths}


def _read(path: Path) -> Any:
    data = path.read_bytes()
    try:
        return orjson.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except orjson.JSONDecodeError as exc:
        raise DataError(f"{path}: {exc}") from exc


def _cases(data: Any) -> list[Json]:
    """Return the list of a file, which stands bare or under ``cases``."""
    found: list[Json] = data["cases"] if isinstance(data, dict) else data
    return found


def _configs(files: dict[str, Path]) -> dict[str, str]:
    path = files.get("configs")
    found = _read(path) if path else {}
    texts = found.get("configs", found)
    return {
        name: text if isinstance(text, str) else orjson.dumps(text).decode() for name, text in texts.items()
    }


def _quirks(files: dict[str, Path]) -> dict[str, list[str]]:
    path = files.get("quirks")
    found = _read(path)["cases"] if path else {}
    return {name: [rules] if isinstance(rules, str) else rules for name, rules in found.items()}


def _tag(raw: Json, quirks: dict[str, list[str]]) -> None:
    """Add the rules that a list beside the cases names for this one."""
    if raw["id"] in quirks:
        raw["quirks"] = [*raw.get("quirks", ()), *quirks[raw["id"]]]
