"""Q-1: every container's devices stand at its true position, and only vendors that the pod asked for write.

The same devices with the same memory and cores, in the same order, for every container that has some. The
reference counts devices at shifted positions as init containers'; a node with such a pod is marked as soon as
that makes a difference.
"""

import json
from typing import Any

from scheduler_app.conformance.quirks import held
from scheduler_app.conformance.quirks.course import Course
from scheduler_app.conformance.quirks.judge import Judge, Seen
from scheduler_app.conformance.world import World
from scheduler_app.core.predicate import requests_of
from scheduler_app.kube import decode

Json = dict[str, Any]


class TruePositions(Judge):
    def __init__(self, world: World, course: Course) -> None:
        super().__init__(world, course)
        self._recorded: dict[str, dict[str, str]] = {}
        self._moved: dict[str, dict[str, str]] = {}

    def decision(self, seen: Seen) -> Seen:
        patch = seen.expected.get("patch")
        if not patch:
            return seen
        requests = requests_of(decode.decode_pod(seen.pod), self.world.backends)
        asked = {vendor for container in requests for vendor in container}
        own = {key for vendor in asked for key in self.world.backends[vendor].written_keys}
        stray = {key for backend in self.world.backends.values() for key in backend.written_keys} - own
        fresh = {key: value for key, value in patch.items() if key not in stray}
        uid = seen.pod["metadata"]["uid"]
        self._recorded[uid], self._moved[uid] = {}, {}
        for vendor in asked:
            keys = self.world.backends[vendor].keys
            text, asking = patch.get(keys.allocated, ""), [vendor in container for container in requests]
            fresh.update(
                {k: moved(fresh[k], asking) for k in (keys.allocated, keys.to_allocate) if k in fresh}
            )
            places = _places(text, asking)
            fresh.update({k: renumbered(v, places) for k, v in fresh.items() if '"containerIndex"' in v})
            self._recorded[uid][vendor], self._moved[uid][vendor] = text, moved(text, asking)
        self._mark_if_counted_otherwise(seen.pod, has_ended=held.has_ended(seen.pod))
        return seen.expecting(patch=fresh)

    def before(self, step: Json) -> None:
        if step["op"] == "init_done":
            pods = (pod for pod in self.world.api.of("pods") if pod["metadata"]["uid"] == step["uid"])
            for pod in pods:
                self._mark_if_counted_otherwise(pod, has_ended=True)

    def _mark_if_counted_otherwise(self, pod: Json, *, has_ended: bool) -> None:
        meta = pod["metadata"]
        flags = held.ends_early(pod, with_sidecars=True)
        for vendor, text in self._recorded.get(meta["uid"], {}).items():
            theirs = held.effective(text, flags, has_ended=has_ended)
            ours = held.effective(self._moved[meta["uid"]][vendor], flags, has_ended=has_ended)
            if theirs != ours:
                nodes = {str(use.name) for use in self.world.state.everything().values()}
                holding = {n for n in nodes if (n, next(iter(ours), "")) in self._cards()}
                self.course.mark(*holding, namespace=meta["namespace"])

    def _cards(self) -> set[tuple[str, str]]:
        everything = self.world.state.everything().items()
        return {(str(name), str(card.id)) for name, usage in everything for card in usage.cards}


def moved(text: str, asking: list[bool]) -> str:
    """Return a device text with its segments at the containers that ask, in order; else as it was."""
    segments = [segment for segment in text.split(";") if segment]
    if len(segments) != sum(asking):
        return text
    found = iter(segments)
    return "".join(f"{next(found) if asks else ''};" for asks in asking)


def renumbered(text: str, places: dict[int, int]) -> str:
    """Return reservations (P-12) with their containers' true positions."""
    items = json.loads(text)
    for item in items:
        item["containerIndex"] = places.get(item["containerIndex"], item["containerIndex"])
    return json.dumps(items, separators=(",", ":"))


def _places(text: str, asking: list[bool]) -> dict[int, int]:
    """Return the true position for each position in ``text`` that has devices."""
    given = [position for position, segment in enumerate(text.split(";")) if segment]
    true = [position for position, asks in enumerate(asking) if asks]
    return dict(zip(given, true, strict=False))
