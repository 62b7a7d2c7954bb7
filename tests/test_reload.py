"""The device configuration file is looked at again and again: who notices a change, and what of it counts."""

import threading
from pathlib import Path

import pytest

from scheduler_app import conf
from scheduler_app.core.errors import ConfigError
from scheduler_app.reload import ConfigWatcher, Generations

pytestmark = pytest.mark.usefixtures("unset")


class CountedGenerations(Generations):
    """Counts how often new parts would have taken over; ``problem`` is why they cannot."""

    def __init__(self) -> None:
        self.switched, self.problem = 0, ""

    def switch(self, stop: threading.Event) -> bool:
        if self.problem:
            raise ConfigError(self.problem)
        self.switched += 1
        return True


class Watched:
    """A configuration file and the watcher that looks at it."""

    def __init__(self, path: Path) -> None:
        self.path, self.generations = path, CountedGenerations()
        self.write("biren: {resourceCountName: a/b}")
        conf.set_flags(device_config_file=str(path))
        self.watcher = ConfigWatcher(self.generations)

    def write(self, text: str) -> None:
        self.path.write_text(text, encoding="utf-8")

    def look(self) -> int:
        """Look once and return how often there was a switch by now."""
        self.watcher.look(threading.Event())
        return self.generations.switched


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "device-config.yaml")


def test_a_changed_file_is_loaded_again_and_an_unchanged_one_is_not(watched: Watched) -> None:
    """DCF-1: the reference reads its one file at start only; here a new text takes over once."""
    assert watched.look() == 0
    watched.write("biren: {resourceCountName: c/d}")
    assert [watched.look(), watched.look()] == [1, 1]


def test_a_file_that_cannot_be_used_changes_nothing_and_is_told_once(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """DCF-2 is for the start: a running scheduler goes on with what it has."""
    watched.generations.problem = "line 1: biren: expected a mapping"
    for text in ("biren: x", "biren: y"):
        watched.write(text)
        assert watched.look() == 0
    assert watched.watcher.problem == "line 1: biren: expected a mapping"
    assert caplog.text.count("device configuration kept as it was") == 1
    watched.generations.problem = ""
    watched.write("biren: {resourceCountName: c/d}")
    assert (watched.look(), watched.watcher.problem) == (1, "")


def test_a_file_that_is_gone_for_a_moment_changes_nothing(watched: Watched) -> None:
    """DCF-3: a mounted ConfigMap is swapped by its link; the same text afterwards is no change."""
    text = watched.path.read_text("utf-8")
    watched.path.unlink()
    assert watched.look() == 0
    assert watched.watcher.problem.startswith(f"Failed to load device config file {watched.path}: ")
    watched.write(text)
    assert (watched.look(), watched.watcher.problem) == (0, "")


def test_a_file_that_cannot_be_read_does_not_hide_what_is_wrong_with_its_text(watched: Watched) -> None:
    watched.generations.problem = "line 1: wrong"
    watched.write("biren: x")
    watched.look()
    watched.path.unlink()
    watched.look()
    watched.write("biren: x")
    assert (watched.look(), watched.watcher.problem) == (0, "line 1: wrong")
