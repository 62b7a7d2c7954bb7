"""Log lines: one an event, as text or as JSON."""

import json
import logging
from collections.abc import Iterator
from io import StringIO

import pytest

from scheduler_app import conf, logs


class Written:
    """What the process writes to standard error once its logging is set up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._stream = StringIO()

    def set_up(self, verbosity: int = 0) -> None:
        with self._monkeypatch.context() as patched:
            patched.setattr("sys.stderr", self._stream)
            logs.set_up(verbosity=verbosity)

    @property
    def text(self) -> str:
        return self._stream.getvalue()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, unset: None) -> Iterator[Written]:
    """Yield what is written; the root logger is put back afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    root.handlers = []  # else basicConfig would close pytest's own
    yield Written(monkeypatch)
    root.handlers = handlers
    root.setLevel(level)


def test_a_line_has_time_level_logger_and_event(written: Written) -> None:
    written.set_up()
    logging.getLogger("x.y").warning("watch broke path=%s", "/pods")
    assert written.text.endswith(" WARNING x.y watch broke path=/pods\n")


@pytest.mark.parametrize(("verbosity", "shown"), [(0, False), (3, False), (4, True), (9, True)])
def test_from_four_on_debug_lines_are_shown(written: Written, verbosity: int, shown: bool) -> None:
    """CFG-3: the chart passes -v=4."""
    written.set_up(verbosity)
    logging.getLogger("x").debug("detail")
    assert ("detail" in written.text) is shown


def test_chatty_libraries_are_kept_quiet(written: Written) -> None:
    written.set_up(9)
    logging.getLogger("urllib3").debug("connection")
    logging.getLogger("asyncio").info("loop")
    assert written.text == ""


def test_json_is_one_object_a_line_with_its_traceback(written: Written) -> None:
    conf.set_flags(LOG_JSON=True)
    written.set_up()
    try:
        raise ValueError("é\nline")
    except ValueError:
        logging.getLogger("x").exception("failed part=%s", "a\nb")
    (line,) = written.text.splitlines()
    found = json.loads(line)
    assert (found["level"], found["logger"], found["message"]) == ("error", "x", "failed part=a\nb")
    assert "ValueError: é" in found["traceback"]
