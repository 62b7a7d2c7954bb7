"""Log lines: ``time level logger event key=value …``, or one JSON object a line (``LOG_JSON=true``)."""

import json
import logging
import logging.config
import sys

from scheduler_app import conf

LINE = "%(asctime)s %(levelname)s %(name)s %(message)s"
DEBUG_VERBOSITY = 4  # as the reference's chart sets it


class JsonFormatter(logging.Formatter):
    """One object a line; a traceback is one of its members, so that a line stays one event."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up(*, verbosity: int) -> None:
    """Send all log lines to standard error; ``verbosity`` is klog's number."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if conf.logs_json() else logging.Formatter(LINE))
    level = logging.DEBUG if verbosity >= DEBUG_VERBOSITY else logging.INFO
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in ("urllib3", "asyncio", "uvicorn.access", "django.request", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)
