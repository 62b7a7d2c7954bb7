"""The documents are complete: what people can set, call or meet is written down, and that exists."""

import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import URLPattern, URLResolver

from dashboard import routing
from dashboard import urls as console_urls
from hami_site import urls as site_urls
from scheduler_app import flags
from scheduler_app.devices import vendors
from scheduler_app.extender import urls as extender_urls
from scheduler_app.threads import TABLE

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OPERATIONS = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PARITY = (ROOT / "docs/parity.md").read_text(encoding="utf-8")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
REFERENCE = re.compile(r"`([\w/]+\.py)::(\w+)`")
README_LINES = 150


def source(*names: str) -> str:
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)


def absent(words: set[str], text: str) -> list[str]:
    """Return the words that a text does not have in code."""
    return sorted(word for word in words if f"`{word}`" not in text)


def paths(patterns: Sequence[URLPattern | URLResolver], prefix: str = "/") -> Iterator[str]:
    """Yield ``"/nodes/<name>"`` for every path of a URL table; other modules' tables only by their prefix."""
    for pattern in patterns:
        path = prefix + re.sub(r"<\w+:(\w+)>", r"<\1>", str(pattern.pattern))
        if isinstance(pattern, URLPattern):
            yield path
        elif pattern.urlconf_name is console_urls.api:
            yield from paths(console_urls.api, path)
        elif path != prefix:
            yield path


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each row of the tables of a document with its cells, table heads left out."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        is_head = number + 1 < len(lines) and lines[number + 1].startswith("|---")
        if line.startswith("|") and not line.startswith("|---") and not is_head:
            yield line, [cell.strip() for cell in line.strip("|").split(" | ")]


def test_every_setting_is_documented() -> None:
    code = source("hami_site/settings.py")
    variables = set(re.findall(r'env_\w+\(\s*"(\w+)"', code))
    secrets = {f"{name}_FILE" for name in re.findall(r'env_secret\(\s*"(\w+)"', code)}
    assert {"SECRET_KEY", "KUBE_API"} <= variables
    assert absent(variables | secrets, OPERATIONS) == []
    assert (
        absent(set(re.findall(r'^    "([A-Z_]+)":', code.partition("\nHAMI")[2], re.MULTILINE)), OPERATIONS)
        == []
    )


def test_every_variable_that_is_documented_is_read() -> None:
    """``KUBECONFIG`` is the client library's own."""
    table = OPERATIONS.partition("## Environment variables")[2].partition("\n## ")[0]
    named = {word for _, cells in sections(table) for word in re.findall(r"`(\w+)`", cells[0])}
    code = source("hami_site/settings.py")
    unread = {name for name in named if f'"{name.removesuffix("_FILE")}"' not in code}
    assert unread == {"KUBECONFIG"}


def test_every_flag_is_documented() -> None:
    names = {f"--{spec.name}" if len(spec.name) > 1 else f"-{spec.name}" for spec in flags.specs()}
    demo = set(re.findall(r'"(--[\w-]+)"', source("scheduler_app/management/commands/demo.py")))
    assert absent(names | demo, OPERATIONS) == []


def test_no_flag_is_documented_that_does_not_exist() -> None:
    commands = (ROOT / "scheduler_app/management/commands").glob("*.py")
    known = {f"--{spec.name}" for spec in flags.specs()}
    known |= {
        flag for path in commands for flag in re.findall(r'"(--[\w-]+)"', path.read_text(encoding="utf-8"))
    }
    assert set(re.findall(r"`(--[\w-]+)`", OPERATIONS)) - known == set()


def test_every_system_check_is_documented() -> None:
    ids = set(re.findall(r'id="(hami\.[EWI]\d+)"', source("scheduler_app/checks.py")))
    assert ids
    assert absent(ids, OPERATIONS) == []


def test_every_command_is_documented() -> None:
    commands = {path.stem for path in (ROOT / "scheduler_app/management/commands").glob("[a-z]*.py")}
    assert [name for name in sorted(commands) if f"`python manage.py {name}" not in OPERATIONS] == []


def test_metrics_of_our_own_are_documented() -> None:
    """M02: their names have our prefix, and no label holds a value that changes."""
    code = source("scheduler_app/metrics.py")
    made = re.findall(r'(Counter|Histogram|Gauge)\(\s*"(\w+)"', code)
    names = {f"{name}_total" if kind == "Counter" else name for kind, name in made}
    assert names
    assert all(name.startswith("hami_scheduler_") for name in names)
    read = source("scheduler_app/gauges.py")
    names |= {f"hami_scheduler_{name}" for name in re.findall(r'(?:_plain\(\s*"|\{PREFIX\})(\w+)"', read)}
    assert absent(names, OPERATIONS) == []
    labels = {
        word for found in re.findall(r'\[("\w+"(?:, "\w+")*)\]\)', code) for word in re.findall(r"\w+", found)
    }
    assert labels <= {"result", "reason"}


def test_every_vendor_is_documented() -> None:
    readme = source("README.md")
    assert [vendor.title for vendor in vendors() if f"| {vendor.title} " not in readme] == []
    flag_names = {f"--{vendor.enabling_flag}" for vendor in vendors() if vendor.enabling_flag}
    assert absent(flag_names, readme.replace("(`", "`").replace("`)", "`")) == []


def test_the_vendor_table_is_the_commands() -> None:
    """``python manage.py devices --markdown`` prints what stands between the two marks."""
    out = StringIO()
    call_command("devices", markdown=True, stdout=out)
    written = source("README.md").partition("<!-- vendors -->")[2].partition("<!-- /vendors -->")[0]
    assert written.strip() == out.getvalue().strip()


def test_the_thread_table_is_the_programs() -> None:
    """Name, what it changes, under which lock, and whether a console runs it too."""
    part = ARCHITECTURE.partition("## Processes and threads")[2].partition("Beside the table")[0]
    written = [cells for line, cells in sections(part) if line.startswith("| `")]
    assert written == [
        [
            f"`{spec.name}`" + (" *console*" if spec.console_needs else ""),
            spec.changes,
            spec.guarded_by,
        ]
        for spec in TABLE
    ]


def test_threads_outside_the_table_are_documented_too() -> None:
    names = set(re.findall(r'\("(\w+)", \w+(?:\([\w, ]*\))?\)', source("scheduler_app/process.py")))
    assert {"extender", "metrics"} <= names
    assert absent(names, ARCHITECTURE) == []


@pytest.mark.parametrize(
    "patterns", [extender_urls.urlpatterns, console_urls.urlpatterns, site_urls.urlpatterns]
)
def test_every_path_is_documented(patterns: Sequence[URLPattern | URLResolver]) -> None:
    found = set(paths(patterns))
    assert found
    assert absent(found, OPERATIONS) == []


def test_the_socket_is_documented() -> None:
    found = {f"/{pattern.pattern}" for pattern in routing.websocket_urlpatterns}
    assert absent(found | {"/metrics"}, OPERATIONS) == []


def test_every_module_that_the_tree_names_exists() -> None:
    tree = ARCHITECTURE.partition("```\n")[2].partition("\n```")[0]
    known = {path.name for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
    assert set(re.findall(r"\b(\w+\.py)\b", tree)) - known == set()


def test_every_top_level_module_stands_in_the_tree() -> None:
    tree = ARCHITECTURE.partition("```\n")[2].partition("\n```")[0]
    modules = {path.name.removesuffix(".py") for path in (ROOT / "scheduler_app").glob("*.py")}
    packages = {path.parent.name for path in (ROOT / "scheduler_app").glob("*/__init__.py")}
    named = set(re.findall(r"\b(\w+)(?:\.py|/)", tree))
    assert (modules | packages) - named - {
        "__init__",
        "apps",
        "build_info",
        "democonfig",
        "migrations",
    } == set()


def test_the_readme_is_short() -> None:
    assert len(source("README.md").splitlines()) <= README_LINES


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    targets = LINK.findall(document.read_text(encoding="utf-8"))
    relative = [target for target in targets if "://" not in target]
    assert [target for target in relative if not (document.parent / target).exists()] == []


def test_every_difference_names_what_holds_it() -> None:
    rows = list(sections(PARITY))
    assert rows
    assert [cells[0] for line, cells in rows if not REFERENCE.search(cells[-1])] == []


def test_what_holds_a_difference_exists() -> None:
    """Tests are named relative to ``tests/``, judges relative to ``scheduler_app/conformance/``."""
    missing = []
    for path, name in REFERENCE.findall(PARITY):
        file = ROOT / ("scheduler_app/conformance" if path.startswith("quirks/") else "tests") / path
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        if not re.search(rf"^\s*(?:async def|def|class) {name}\b", text, re.MULTILINE):
            missing.append(f"{path}::{name}")
    assert missing == []


def test_every_judge_holds_a_documented_difference() -> None:
    table = source("scheduler_app/conformance/quirks/table.py")
    judges = set(re.findall(r"quirks\.\w+ import ([\w, ]+)$", table, re.MULTILINE))
    names = {name for found in judges for name in found.split(", ")} - {"Course", "Judge"}
    assert names
    assert sorted(name for name in names if f"::{name}`" not in PARITY) == []
