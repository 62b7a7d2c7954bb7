"""Amounts at admission: which are refused, and which only earn a warning (architecture, section 7)."""

from scheduler_app.core import quantity
from scheduler_app.core.admission import ContainerDraft
from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.types import Container

INT32_MIN = -(2**31)


def refuse_wrapping(container: ContainerDraft, *resources: str) -> None:
    """Refuse whole numbers that the reference would wrap around at 32 bits.

    Raises:
        AdmissionError: names container, resource, the amount as written and the largest one allowed.
    """
    for resource, text in _written(container, resources):
        value = quantity.exact(text)
        if value is not None and not INT32_MIN <= value <= quantity.INT32_MAX:
            allowed = _allowed(quantity.INT32_MAX)
            raise AdmissionError(f"invalid {resource} value {text} in container {container.name}: {allowed}")


def warn_unreadable(
    container: ContainerDraft, *resources: str, low: int = 0, high: int = quantity.INT32_MAX
) -> None:
    """Warn of amounts that scheduling reads as nothing or not as meant: fractional, negative or too large."""
    for resource, text in _written(container, resources):
        value = quantity.exact(text)
        if value is None or not low <= value <= high:
            container.pod.warn(f"container {container.name}: {resource} is {text}, {_allowed(high, low)}")


def beyond_32_bits(container: Container, names: ResourceNames) -> str:
    """Return what is wrong with the first amount that the reference would wrap around, or an empty text.

    For containers of which a vendor that they name can make no request.
    """
    factors = ((names.count, 1), (names.mem, max(names.mem_factor, 1)), (names.cores, 1))
    for resource, factor in factors:
        text = quantity.lookup(resource, container.limits, container.requests)
        value = None if text is None else quantity.exact(text)
        if value is not None and not INT32_MIN <= value * factor <= quantity.INT32_MAX:
            most = quantity.INT32_MAX // factor
            return f"container {container.name}: {resource} is {text}, {_allowed(most)}"
    return ""


def _written(container: ContainerDraft, resources: tuple[str, ...]) -> list[tuple[str, str]]:
    found = ((resource, container.quantity_text(resource)) for resource in resources)
    return [(resource, text) for resource, text in found if text is not None]


def _allowed(high: int, low: int = 0) -> str:
    return f"must be a whole number between {low} and {high}"
