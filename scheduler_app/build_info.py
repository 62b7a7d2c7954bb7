"""Which build this is, as ``runscheduler version`` and ``hami_build_info`` tell it (CFG-1, X-3)."""

import platform

VERSION = "v0.1.0"
INFO = {
    "version": VERSION,
    "revision": "unknown",
    "build_date": "unknown",
    "go_version": f"python{platform.python_version()}",
    "compiler": platform.python_implementation().lower(),
    "platform": f"{platform.system().lower()}/{platform.machine()}",
}
_LABELS = {"build_date": "build date", "go_version": "go version"}


def text() -> str:
    """Return six lines with the values aligned at column 19 (CFG-1)."""
    return "\n".join(f"{_LABELS.get(key, key) + ':':18}{value}" for key, value in INFO.items())
