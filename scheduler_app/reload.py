"""The config thread: when the device configuration file changes, new parts take over from the old ones.

The new parts read the cluster for themselves while the old ones go on answering; only when they are as far
as the old ones were does the process switch. A file that cannot be used changes nothing and is told once.
"""

import logging
import threading
import time
from collections.abc import Callable

from scheduler_app import bootstrap, conf
from scheduler_app.bootstrap import Parts
from scheduler_app.core.errors import ConfigError
from scheduler_app.threads import ThreadGroup

logger = logging.getLogger(__name__)
LOOK_SECONDS = 5.0
READY_SECONDS = 120.0
WAIT_SECONDS = 0.05


class Generations:
    """The parts in charge and their threads. One at a time, but for the moment of a switch."""

    def __init__(self, start: Callable[[Parts], ThreadGroup]) -> None:
        self._start = start
        self._parts = bootstrap.parts()
        self._threads = start(self._parts)
        self._threads.start()

    @property
    def threads(self) -> ThreadGroup:
        return self._threads

    def switch(self, stop: threading.Event) -> bool:
        """Build new parts from the changed files and put them in charge; False when they did not get ready.

        Raises:
            ConfigError: the files cannot be used; the old parts stay.
        """
        fresh = bootstrap.build()
        threads = self._start(fresh)
        threads.start()
        if not _wait(lambda: _is_ready(fresh), stop, READY_SECONDS):
            threads.stop()
            return False
        old, old_threads = self._parts, self._threads
        self._parts, self._threads = fresh, threads
        bootstrap.install(fresh)
        _wait(lambda: not old.turns.waiting, stop, old.config.bind_wait_seconds)
        old.turns.stop()
        old_threads.stop()
        return True

    def stop(self) -> None:
        self._parts.turns.stop()
        self._threads.stop()


class ConfigWatcher:
    """Looks at the file's text every few seconds: a mounted ConfigMap changes by a link, not by a write."""

    def __init__(self, generations: Generations) -> None:
        self._generations = generations
        self._text = conf.device_config_text()
        self.problem = self._problem_of_text = ""  # a file that cannot be read says nothing of its text

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(LOOK_SECONDS):
            self.look(stop)

    def interrupt(self) -> None:
        """Nothing to do: it waits on the stop event itself."""

    def look(self, stop: threading.Event) -> None:
        """Switch if the text has changed since the last look."""
        try:
            text = conf.device_config_text()
        except ConfigError as exc:
            self._keep(exc)
            return
        if text == self._text:
            self.problem = self._problem_of_text
            return
        self._text = text
        try:
            self._switch(stop)
        except ConfigError as exc:
            self._keep(exc)
        self._problem_of_text = self.problem

    def _switch(self, stop: threading.Event) -> None:
        if self._generations.switch(stop):
            self.problem = ""
            logger.info("device configuration loaded again")
        else:
            self.problem = "new parts did not get ready in time"
            logger.error("device configuration not in force problem=%s", self.problem)

    def _keep(self, exc: ConfigError) -> None:
        """Go on with the configuration in force; a problem that is known is not told again."""
        if str(exc) != self.problem:
            logger.error("device configuration kept as it was error=%s", exc)
        self.problem = str(exc)


def _is_ready(parts: Parts) -> bool:
    """Say whether parts know the cluster: all lists are complete and, on the leader, nodes are registered."""
    if not parts.reflectors.are_synced():
        return False
    return parts.leadership.is_synced or not parts.leadership.is_leader


def _wait(condition: Callable[[], bool], stop: threading.Event, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline or stop.wait(WAIT_SECONDS):
            return condition()
    return True
