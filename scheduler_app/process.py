"""The life of the process: build, start the threads, open the doors, drain, end."""

import gc
import logging
import threading
from collections.abc import Callable

from scheduler_app import bootstrap, conf, gauges, metrics
from scheduler_app.reload import ConfigWatcher, Generations
from scheduler_app.serving import CONSOLE, EXTENDER, METRICS, Bind, DoorThread, serve_console
from scheduler_app.threads import TABLE, ThreadGroup

logger = logging.getLogger(__name__)
LOOK_SECONDS = 0.5
NEVER = 1_000_000


def _nothing() -> None:
    """Nobody wants to be told."""


def run(*, opened: Callable[[], None] = _nothing, ending: Callable[[], None] = _nothing) -> None:
    """Run the scheduler until it is told to end, or until a door cannot be kept open.

    ``opened`` is called when the threads have been started, ``ending`` while the extender still answers.

    Raises:
        ConfigError: something is set wrongly; nothing was started, or all of it has ended again.
    """
    for unknown in bootstrap.parts().devices.unknown:
        logger.warning("device configuration has an unknown key %s", unknown)
    tls = {"cert_file": conf.flag("cert_file"), "key_file": conf.flag("key_file")}
    extender = DoorThread(Bind(EXTENDER, conf.flag("http_bind"), **tls))
    scrape = DoorThread(Bind(METRICS, conf.flag("metrics_bind_address")))
    generations = Generations(lambda parts: ThreadGroup(TABLE, parts))
    doors = ThreadGroup(
        (),
        bootstrap.parts(),
        more=[
            ("extender", extender),
            ("metrics", scrape),
            ("config", ConfigWatcher(generations)),
            ("heap", Heap()),
        ],
    )
    take_out = metrics.install(metrics.Gauges(lambda: gauges.read(bootstrap.parts())))
    doors.start()
    try:
        opened()
        serve_console(
            Bind(CONSOLE, conf.flag("console_bind"), has_lifespan=True),
            must_end=lambda: extender.failed.is_set() or scrape.failed.is_set(),
        )
    finally:
        ending()
        bootstrap.parts().turns.stop()  # so that no door waits for a bind that waits for a node
        doors.stop()
        generations.stop()
        take_out()


class Heap:
    """Keeps the garbage collector away from the cluster's objects, which live for hours and hold no cycles.

    A full collection over 50,000 pods stops every thread for 0.6 s. None happens while the lists are read;
    afterwards all that is there is set aside (``gc.freeze``), again when a replica becomes the leader, and
    afresh when other parts take over, whose predecessors then go.
    """

    def __init__(self) -> None:
        self._usual = gc.get_threshold()
        self._parts: object = None
        self._is_synced = False

    def run(self, stop: threading.Event) -> None:
        young, middle, _ = self._usual
        gc.set_threshold(young, middle, NEVER)
        try:
            while not stop.wait(LOOK_SECONDS):
                self.look()
        finally:
            gc.set_threshold(*self._usual)
            gc.unfreeze()

    def interrupt(self) -> None:
        """Nothing to do: it waits on the stop event itself."""

    def look(self) -> None:
        """Set aside what was loaded since the last look, once it is complete."""
        parts = bootstrap.parts()
        is_other, is_synced = parts is not self._parts, parts.leadership.is_synced
        if not parts.reflectors.are_synced() or not (is_other or is_synced > self._is_synced):
            return
        if is_other and self._parts is not None:
            gc.unfreeze()
            gc.collect()
        gc.freeze()
        gc.set_threshold(*self._usual)
        self._parts, self._is_synced = parts, is_synced


def run_console() -> None:
    """Run the console door alone, on informers of its own unless the leader's state comes by the layer."""
    table = [] if conf.has_shared_layer() else [spec for spec in TABLE if spec.console_needs]
    parts = bootstrap.parts()
    parts.history.leave_to_others()
    threads = ThreadGroup(table, parts)
    threads.start()
    try:
        serve_console(Bind(CONSOLE, conf.flag("console_bind"), has_lifespan=True), must_end=lambda: False)
    finally:
        threads.stop()
