"""Times in and out: inputs say ``<now-30s|datetime>``, recorded outputs ``<time>`` where a clock was read."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from scheduler_app.conformance.doubles import Clock

TIME = "<time>"
INPUT = re.compile(r"<now(?:([+-]\d+)(ms|s|m|h))?\|(datetime|rfc3339|micro)>")
FORMS = {"datetime": "%Y-%m-%d %H:%M:%S", "rfc3339": "%Y-%m-%dT%H:%M:%SZ", "micro": "%Y-%m-%dT%H:%M:%S.%fZ"}
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Masks:
    """The times of one case. ``base`` is what inputs are relative to."""

    def __init__(self, clock: Clock, *, base: float) -> None:
        self._clock = clock
        self._base = base
        self._inputs: dict[str, str] = {}

    def resolved(self, value: Any) -> Any:
        """Return ``value`` with its input placeholders as times."""
        return _mapped(value, lambda text: INPUT.sub(self._time, text) if "<now" in text else text)

    def hidden(self, value: Any) -> Any:
        """Return ``value`` with times as the recording shows them."""
        known = self._known()
        return _mapped(value, lambda text: _replaced(text, known))

    def is_reading(self, text: str | None) -> bool:
        """Say whether a text is the clock's time, in seconds or nanoseconds."""
        readings = self._clock.readings
        return any(text in (str(int(seconds)), str(int(seconds * 1e9))) for seconds in readings)

    def _time(self, match: re.Match[str]) -> str:
        amount, unit, form = match.groups()
        seconds = self._base + (int(amount) * UNITS[unit] if amount else 0.0)
        text = datetime.fromtimestamp(seconds, UTC).strftime(FORMS[form])
        self._inputs[text] = match[0]
        return text

    def _known(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for seconds in self._clock.readings:
            now = datetime.fromtimestamp(seconds, UTC)
            texts = [str(int(seconds)), str(int(seconds * 1e9)), now.isoformat(), str(int(seconds * 1e3))]
            texts += [(now + timedelta()).strftime(form) for form in FORMS.values()]
            found.update(dict.fromkeys(texts, TIME))
        return found | self._inputs


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return value


def _replaced(text: str, known: dict[str, str]) -> str:
    for shown in sorted(known, key=len, reverse=True):
        if shown in text:
            text = text.replace(shown, known[shown])
    return text
