"""Q-1: every container's devices stand at its true position, and only vendors that the pod asked for write.

The same devices with the same memory and cores, in the same order, for every container that has some.
"""

from typing import Any

from scheduler_app.conformance.quirks.base import Judge, Seen
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.predicate import requests_of
from scheduler_app.kube import decode

Json = dict[str, Any]


class TruePositions(Judge):
    def decision(self, seen: Seen) -> Seen:
        patch = seen.expected.get("patch")
        if not patch:
            return seen
        requests = requests_of(decode.decode_pod(seen.pod), self.world.backends)
        asked = {vendor for container in requests for vendor in container}
        kept = {key for vendor in asked for key in self.world.backends[vendor].written_keys}
        stray = {key for backend in self.world.backends.values() for key in backend.written_keys} - kept
        patch = {key: value for key, value in patch.items() if key not in stray}
        for vendor in asked:
            backend = self.world.backends[vendor]
            asking = [vendor in container for container in requests]
            patch.update({key: moved(patch[key], asking) for key in _device_keys(backend) if key in patch})
        return seen.expecting(patch=patch)


def moved(text: str, asking: list[bool]) -> str:
    """Return a device text with its segments at the containers that ask, in order; else as it was."""
    segments = [segment for segment in text.split(";") if segment]
    if len(segments) != sum(asking):
        return text
    found = iter(segments)
    return "".join(f"{next(found) if asks else ''};" for asks in asking)


def _device_keys(backend: DeviceBackend) -> tuple[str, ...]:
    return tuple(key for key in (backend.keys.allocated, backend.keys.to_allocate) if key)
