"""Faults on purpose, for what comes over HTTP: refused, slow or broken requests, watches that end, 410."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from simcluster.errors import StatusError
from simcluster.objects import Json

HANG_UP = 0  # as a code: close the connection without an answer

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(slots=True)
class Rule:
    """One fault; an empty selector matches every request, ``times`` None means until cleared."""

    verb: str = ""
    resource: str = ""
    contains: str = ""
    code: int | None = None
    seconds: float = 0.0
    times: int | None = None

    def matches(self, verb: str, resource: str, text: str) -> bool:
        return (
            self.verb in {"", verb}
            and self.resource in {"", resource, resource.partition("/")[0]}
            and self.contains in text
            and self.times != 0
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """What is to happen to one request: first a wait, then (code not None) a refusal."""

    seconds: float = 0.0
    code: int | None = None

    def error(self) -> StatusError:
        code = self.code or 500
        return StatusError(code, _REASONS.get(code, "InternalError"), f"simulated fault {code}")


class Faults:
    """Rules and switches; safe for many threads. Callers inside the cluster are not hit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Rule] = []
        self.end_watches: Callable[[bool], None] = lambda gone: None  # set by the server

    def fail(
        self,
        *,
        verb: str = "",
        resource: str = "",
        contains: str = "",
        code: int = 500,
        times: int | None = None,
    ) -> None:
        """Refuse matching requests with code (0: hang up).

        Verb is one of get list watch create update patch delete deletecollection; resource ``pods`` (with its
        subresources) or ``pods/binding``; contains is looked for in the URL and the body.
        """
        self._add(Rule(verb=verb, resource=resource, contains=contains, code=code, times=times))

    def delay(
        self,
        seconds: float,
        *,
        verb: str = "",
        resource: str = "",
        contains: str = "",
        times: int | None = None,
    ) -> None:
        """Answer matching requests that much later."""
        self._add(Rule(verb=verb, resource=resource, contains=contains, seconds=seconds, times=times))

    def cut_watches(self) -> None:
        """Break every open watch off in mid-stream."""
        self.end_watches(False)

    def gone(self) -> None:
        """End every watch with a 410 ERROR event and forget the history behind it (K3.2-1)."""
        self.end_watches(True)

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    @property
    def is_calm(self) -> bool:
        """Whether no rule is set, so that a request need not be looked at."""
        return not self._rules

    def effect(self, verb: str, resource: str, text: str) -> Effect:
        """Return what happens to this request, and count it."""
        seconds, code = 0.0, None
        with self._lock:
            for rule in self._rules:
                if not rule.matches(verb, resource, text):
                    continue
                if rule.code is not None and code is not None:
                    continue
                if rule.times is not None:
                    rule.times -= 1
                seconds, code = seconds + rule.seconds, rule.code if code is None else code
        return Effect(seconds, code)

    def apply(self, order: Json) -> None:
        """Do what a ``POST /simcluster/faults`` body says; TypeError or KeyError when it cannot be read.

        Shape: ``{"do": "fail" | "delay" | "cut_watches" | "gone" | "clear", ...keywords}``.
        """
        keywords = {name: value for name, value in order.items() if name != "do"}
        actions: dict[str, Callable[..., None]] = {
            "fail": self.fail,
            "delay": self.delay,
            "cut_watches": self.cut_watches,
            "gone": self.gone,
            "clear": self.clear,
        }
        actions[order["do"]](**keywords)

    def _add(self, rule: Rule) -> None:
        with self._lock:
            self._rules.append(rule)
