"""English and Simplified Chinese, complete: no key missing, none unused (console.md 11)."""

import gettext
import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from django.test import Client
from django.utils import translation

from dashboard import wording
from tests.dashboard.clusters import Cluster

CONSOLE = Path(__file__).resolve().parent.parent.parent / "dashboard"
CATALOGUE = CONSOLE / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
TAG = re.compile(r"""\{% (?:trans|translate) (?:"([^"]+)"|'([^']+)')""")
PATTERN = re.compile(r'^#,.* python-format.*\nmsgid ((?:".*"\n)+)', re.MULTILINE)
TEXT = re.compile(r">\s*([A-Z][a-z]+ [a-z]+[^<>{}%]*)<")


def words() -> dict[str, str]:
    """Return the catalogue: English → Chinese; of a plural the singular."""
    with CATALOGUE.open("rb") as file:
        catalogue = read_po(file)
    return {first(message.id): first(message.string) for message in catalogue if message.id}


def first(text: object) -> str:
    """Return the text itself, or the first form of a plural."""
    return text if isinstance(text, str) else str(text[0]) if isinstance(text, tuple | list) else ""


def templates() -> list[Path]:
    return sorted((CONSOLE / "templates").rglob("*.html"))


def test_each_word_of_a_template_is_translated() -> None:
    used = {a or b for path in templates() for a, b in TAG.findall(path.read_text(encoding="utf-8"))}
    known = words()
    assert [word for word in sorted(used) if not known.get(word)] == []


def test_no_translation_is_empty_or_loses_an_argument() -> None:
    argument = re.compile(r"\{\w+\}|%\(\w+\)s")
    for english, chinese in words().items():
        assert chinese, english
        assert sorted(argument.findall(chinese)) == sorted(argument.findall(english)), english


def test_no_percent_sign_is_taken_for_an_argument() -> None:
    """A sentence with "90 %" is no pattern: tools must not hold its translation to `% o`."""
    patterns = PATTERN.findall(CATALOGUE.read_text(encoding="utf-8"))
    assert patterns
    assert [text for text in patterns if "%(" not in text] == []


def test_arguments_of_patterns_are_those_of_the_words_they_translate() -> None:
    """Number and kind of each, and a known form of the plural; sentences marked as no pattern aside."""
    with CATALOGUE.open("rb") as file:
        problems = read_po(file, abort_invalid=True).check()
    assert [message.id for message, _errors in problems if "no-python-format" not in message.flags] == []


def test_the_compiled_catalogue_is_the_written_one() -> None:
    with CATALOGUE.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for english, chinese in words().items():
        found = compiled.gettext(english)
        assert chinese in (found, compiled.ngettext(english, english, 2))


def test_no_template_has_a_sentence_outside_the_catalogue() -> None:
    block = re.compile(r"\{% blocktrans.*?\{% endblocktrans %\}", re.DOTALL)
    for path in templates():
        text = block.sub("", path.read_text(encoding="utf-8"))
        assert TEXT.findall(text) == [], path.name


def test_the_browser_has_each_word_that_its_modules_say_and_no_other() -> None:
    modules = [path.read_text(encoding="utf-8") for path in (CONSOLE / "static/dashboard/js").glob("*.js")]
    text = "\n".join(modules)
    said = set(re.findall(r'\bsay\((?:[^()"]*\? )?"(\w+)"', text)) | set(
        re.findall(r': "(pod_many|nodes)"', text)
    )
    computed = {"memory", "cores", "shares", "connecting", "disconnected", "live", "paused"}  # say(variable)
    assert said - set(wording.BROWSER) == set()
    assert set(wording.BROWSER) - said - computed == set()


@pytest.mark.parametrize("path", ["/", "/fleet", "/nodes", "/pending", "/pods/vision/train-0", "/quotas"])
def test_a_chinese_page_is_chinese(path: str, alice: Client, cluster: Cluster) -> None:
    page = alice.get(path, headers={"accept-language": "zh-CN,zh;q=0.9"}).content.decode()
    assert '<html lang="zh-hans"' in page
    assert "等待调度" in page


def test_a_sentence_with_arguments_is_put_together_in_each_language() -> None:
    arguments = {"cause": "CardInsufficientMemory"}
    with translation.override("zh-hans"):
        chinese = wording.problem_title("pods_wait", count=31, names=(), args=arguments)
    assert chinese.startswith("31 个 Pod")
    assert chinese.endswith("显存已满")
    assert wording.problem_title("pods_wait", count=1, names=(), args=arguments) == "1 pod waits: memory full"


def test_arguments_are_data_and_never_a_pattern() -> None:
    hostile = ("{count.__class__}", "{0}")
    assert "{count.__class__}" in wording.problem_title("drift", count=1, names=hostile, args={})
