"""What pods hold, worked out from their annotations alone: a second opinion on the product's accounting.

Device text: ``"<id>,<type>,<memory>,<cores>:"`` for a device, ``;`` after a container; init containers first.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_app.core import annotations
from scheduler_app.core.predicate import Backends

Json = dict[str, Any]
Amount = Counter[str]
"""``used``, ``usedmem`` and ``usedcores`` of one card."""


@dataclass(slots=True)
class Holdings:
    """Use by node and card, use by namespace and resource, instances by node and card."""

    cards: dict[tuple[str, str], Amount] = field(default_factory=dict)
    quotas: dict[tuple[str, str], int] = field(default_factory=dict)
    instances: dict[tuple[str, str], list[str]] = field(default_factory=dict)


def containers_of(text: str) -> list[list[tuple[str, int, int]]]:
    """Return ``(id, memory, cores)`` by container; parts without a comma are passed over (Q-43).

    Raises:
        IndexError, ValueError: a device lacks a field, or an amount is no 32-bit number.
    """
    return [
        [_device(part.split(",")) for part in segment.split(":") if "," in part]
        for segment in text.split(";")
    ]


def _device(fields: Sequence[str]) -> tuple[str, int, int]:
    return fields[0], _amount(fields[2]), _amount(fields[3])


def _amount(text: str) -> int:
    value = int(text)
    if not -(2**31) <= value < 2**31:
        raise ValueError(f"{text} is beyond 32 bits")
    return value


def effective(text: str, ends_early: Sequence[bool], *, has_ended: bool) -> dict[str, Amount]:
    """Return use by card: the larger of the init containers' peak and the others' sum; later the sum.

    ``ends_early`` says of each leading container whether it ends before the app containers start.
    """
    peak: dict[str, Amount] = {}
    running: dict[str, Amount] = {}
    for position, devices in enumerate(containers_of(text)):
        is_init = position < len(ends_early) and ends_early[position]
        for card, mem, cores in devices:
            more = Counter(used=1, usedmem=mem, usedcores=cores)
            if is_init:
                peak[card] = peak.get(card, Counter()) | more
            else:
                running[card] = Counter({key: running.get(card, Counter())[key] + more[key] for key in more})
    if has_ended:
        return running
    return {card: peak.get(card, Counter()) | running.get(card, Counter()) for card in peak.keys() | running}


def ends_early(pod: Json, *, with_sidecars: bool = False) -> list[bool]:
    """Say of each init container whether it ends; sidecars do not (Q-23), but the reference thinks so."""
    inits = pod["spec"].get("initContainers", ())
    return [with_sidecars or init.get("restartPolicy") != "Always" for init in inits]


def has_ended(pod: Json) -> bool:
    """Say whether every init container that reports a status has succeeded (M-14)."""
    states = [s.get("state", {}).get("terminated") for s in pod["status"].get("initContainerStatuses") or ()]
    return bool(states) and all(state is not None and state.get("exitCode", 0) == 0 for state in states)


def texts(pod: Json, backends: Backends) -> Iterator[tuple[str, str]]:
    """Yield vendor key and device text for each vendor that a pod is annotated with."""
    given = pod["metadata"].get("annotations") or {}
    for key, backend in backends.items():
        if backend.keys.allocated in given:
            yield key, given[backend.keys.allocated]


def all_held(pods: Iterable[Json], backends: Backends) -> Holdings:
    """Add up every pod that carries a decision and has not ended."""
    found = Holdings()
    for pod in pods:
        node = (pod["metadata"].get("annotations") or {}).get(annotations.ASSIGNED_NODE)
        if node is None or pod["status"].get("phase") in ("Succeeded", "Failed"):
            continue
        for vendor, text in texts(pod, backends):
            held = effective(text, ends_early(pod), has_ended=has_ended(pod))
            _add(found, pod["metadata"]["namespace"], node, held)
            _charge(found, pod["metadata"]["namespace"], backends, vendor, held)
        for card, instance in _instances(pod):
            found.instances.setdefault((node, card), []).append(instance)
    return found


def _add(found: Holdings, namespace: str, node: str, held: Mapping[str, Amount]) -> None:
    for card, amount in held.items():
        total = found.cards.setdefault((node, card), Counter())
        for key, value in amount.items():
            total[key] += value


def _charge(
    found: Holdings, namespace: str, backends: Backends, vendor: str, held: Mapping[str, Amount]
) -> None:
    names = next(backend.names for key, backend in backends.items() if key == vendor)
    for resource, key in ((names.mem, "usedmem"), (names.cores, "usedcores")):
        if resource:
            before = found.quotas.get((namespace, resource), 0)
            found.quotas[namespace, resource] = before + sum(amount[key] for amount in held.values())


def _instances(pod: Json) -> Iterator[tuple[str, str]]:
    """Yield card and ``"<profile>@<start>+<size>"`` of every instance a pod has reserved (P-12)."""
    for text in (pod["metadata"].get("annotations") or {}).values():
        if '"gpuUUID"' not in text or '"placement"' not in text:
            continue
        for item in json.loads(text):
            place = item["placement"]
            yield item["gpuUUID"], f"{item['profile']}@{place.get('start', 0)}+{place['size']}"
