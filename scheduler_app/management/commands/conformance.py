"""Replay recorded behaviour against this build and print every difference."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scheduler_app import bootstrap
from scheduler_app.conformance import cases, runner
from scheduler_app.core.errors import HamiError


class Command(BaseCommand):
    help = "Replay recorded cases; a line for each that differs, then the counts"
    requires_system_checks = ()  # it serves nothing and needs no settings

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", type=Path, help="folder with filter/ and surface/")
        parser.add_argument("--cases", type=Path, help="file with case ids, one a line; only these run")
        parser.add_argument("--only", default="", help="only cases whose id starts so")

    def handle(self, *args: object, directory: Path, only: str, **options: object) -> None:
        names_file, verbosity = options["cases"], options["verbosity"]
        started = time.monotonic()
        try:
            names = cases.read_names(names_file) if isinstance(names_file, Path) else None
            found = cases.load(directory, only=only, names=names)
            with _undisturbed():
                report = runner.run(found, tell=self.stdout.write)
        except (HamiError, OSError) as exc:
            raise CommandError(str(exc)) from exc
        if isinstance(verbosity, int) and verbosity > 1:
            self.stdout.writelines(f"{name}: passed by a fix not named for it\n" for name in report.unnamed)
            self.stdout.writelines(f"{line}\n" for line in report.families)
            self.stdout.write(f"{time.monotonic() - started:.1f} s")
        self.stdout.write(report.line)
        if report.failed:
            raise SystemExit(1)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep what operators would be told out of the output, and take the replay's parts away at the end."""
    logger = logging.getLogger("scheduler_app")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
        bootstrap.install(None)
