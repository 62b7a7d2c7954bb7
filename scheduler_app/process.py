"""The life of the process: build, start the threads, open the doors, drain, end."""

import logging
from collections.abc import Callable

from scheduler_app import bootstrap, conf, gauges, metrics
from scheduler_app.reload import ConfigWatcher, Generations
from scheduler_app.serving import CONSOLE, EXTENDER, METRICS, Bind, DoorThread, serve_console
from scheduler_app.threads import TABLE, ThreadGroup

logger = logging.getLogger(__name__)


def run(*, opened: Callable[[], None] = lambda: None) -> None:
    """Run the scheduler until it is told to end, or until a door cannot be kept open.

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
        more=[("extender", extender), ("metrics", scrape), ("config", ConfigWatcher(generations))],
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
        bootstrap.parts().turns.stop()  # first, so that no door waits for a bind that waits for a node
        doors.stop()
        generations.stop()
        take_out()


def run_console() -> None:
    """Run the console door alone, on informers of its own unless the leader's state comes by the layer."""
    table = [] if conf.has_shared_layer() else [spec for spec in TABLE if spec.console_needs]
    threads = ThreadGroup(table, bootstrap.parts())
    threads.start()
    try:
        serve_console(Bind(CONSOLE, conf.flag("console_bind"), has_lifespan=True), must_end=lambda: False)
    finally:
        threads.stop()
