"""Prometheus text to samples, and a scrape through the product's own application."""

import re
from collections.abc import Coroutine, Mapping
from typing import Any

from scheduler_app import scrape

Json = dict[str, Any]
SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)$")
ESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
OURS = re.compile(r"(hami_scheduler|django|python|process)_")
BUILD = "hami_build_info"


def get(path: str, method: str) -> Json:
    """Ask the metrics door, whose coroutine never really waits, and return status, type and text."""
    sent: list[Mapping[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    path, _, query = path.partition("?")
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": []}
    _finish(scrape.application(scope, receive, send))
    headers = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    text = b"".join(message.get("body", b"") for message in sent[1:]).decode()
    return {"status": sent[0]["status"], "content_type": headers.get("content-type", ""), "text": text}


def _finish(coroutine: Coroutine[Any, Any, None]) -> None:
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise RuntimeError("the metrics door waits for something")


def families(text: str) -> dict[str, Json]:
    """Return help and type by name, without our own families (rule 5)."""
    found: dict[str, Json] = {}
    for line in text.splitlines():
        if line.startswith("# "):
            _, what, name, rest = (*line.split(" ", 3), "")[:4]
            if not OURS.match(name):
                found.setdefault(name, {"name": name})[what.lower()] = rest
    return found


def samples(text: str) -> list[tuple[str, str, float]]:
    """Return name, labels and value of each sample, without our own, build labels masked; sorted."""
    found = []
    for line in text.splitlines():
        match = None if line.startswith("#") else SAMPLE.match(line)
        if match and not OURS.match(match[1]):
            pairs = LABEL.findall(match[2] or "")
            labels = {name: "<build>" if match[1] == BUILD else _unescaped(text) for name, text in pairs}
            found.append((match[1], repr(sorted(labels.items())), float(match[3])))
    return sorted(found)


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda found: ESCAPED.get(found[0], found[0]), text)
