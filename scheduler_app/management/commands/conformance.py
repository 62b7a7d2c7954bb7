"""Replay recorded behaviour against this build and print every difference."""

import logging
import time
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

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
        names_file = options["cases"]
        verbosity = options["verbosity"]
        started = time.monotonic()
        logging.getLogger("scheduler_app").setLevel(
            logging.CRITICAL
        )  # what it would tell operators drowns the rest
        try:
            names = cases.read_names(names_file) if isinstance(names_file, Path) else None
            found = cases.load(directory, only=only, names=names)
            report = runner.run(found, tell=self.stdout.write)
        except (HamiError, OSError) as exc:
            raise CommandError(str(exc)) from exc
        if isinstance(verbosity, int) and verbosity > 1:
            for name in sorted(report.passed.keys() | report.failed.keys()):
                self.stdout.write(
                    f"{name}: {report.passed.get(name, 0)} passed, {report.failed.get(name, 0)} failed"
                )
            self.stdout.write(f"{time.monotonic() - started:.1f} s")
        self.stdout.write(report.line)
        if report.failed:
            raise SystemExit(1)
