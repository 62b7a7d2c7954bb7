"""What a pod asks, as people read it: sizes by container and vendor, and which models it limits itself to."""

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.display import ALL_PERCENT
from scheduler_app.core.predicate import Backends
from scheduler_app.core.publication import AskView
from scheduler_app.core.types import CardRequest, Container, Pod, Requests


def asks(pod: Pod, requests: Requests, *, backends: Backends) -> tuple[AskView, ...]:
    """Return what each container asks of each vendor."""
    return tuple(
        _ask_view(pod, container, ask, backend=backends[vendor])
        for container, wanted in zip(pod.all_containers, requests, strict=True)
        for vendor, ask in wanted.items()
    )


def _ask_view(pod: Pod, container: Container, ask: CardRequest, *, backend: DeviceBackend) -> AskView:
    """Amounts are the vendor's own; only one that counts memory can have been asked for all of it."""
    names, keys, size = backend.memory_names, backend.keys, backend.asked(ask)
    is_silent = not any(name in container.limits or name in container.requests for name in names)
    return AskView(
        container.name,
        backend.vendor_key,
        ask.cards,
        size.mem_mib,
        size.mem_percent,
        size.cores,
        backend.asked_cores_unit,
        size.slices,
        is_whole=bool(names) and is_silent and size.mem_percent == ALL_PERCENT,
        models=pod.annotations.get(keys.use_type, "").strip() if keys.use_type else "",
        no_models=pod.annotations.get(keys.nouse_type, "").strip() if keys.nouse_type else "",
    )
