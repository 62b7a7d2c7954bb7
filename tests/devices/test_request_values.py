"""The values of a request that all vendors share (VA-1), with the backends of the shipped configuration."""

import pytest

from scheduler_app.core.backend import NO_PERCENTAGE, DeviceBackend
from scheduler_app.core.quantity import INT32_MAX
from scheduler_app.core.types import CardRequest
from tests.devices.machines import SHIPPED
from tests.factories import make_container

NAMED = [
    pytest.param(backend, name, id=f"{backend.vendor_key}-{name}")
    for backend in SHIPPED.backends.values()
    for name in ("mem", "cores")
    if getattr(backend.names, name)
]


@pytest.fixture(params=SHIPPED.backends.values(), ids=lambda backend: backend.vendor_key)
def backend(request: pytest.FixtureRequest) -> DeviceBackend:
    assert isinstance(request.param, DeviceBackend)
    return request.param


def asked(backend: DeviceBackend, *, mem: object = None, cores: object = None) -> CardRequest | None:
    """Return the request for one card, with memory and cores where the vendor has a name for them."""
    names = backend.names
    written = {names.count: 1, names.mem: mem, names.cores: cores}
    return backend.request(
        make_container(limits={name: value for name, value in written.items() if name and value is not None})
    )


@pytest.mark.parametrize("mem", [None, 4])
@pytest.mark.parametrize("cores", [None, 10])
def test_only_nvidia_tells_memory_apart_from_a_percentage(
    backend: DeviceBackend, mem: int | None, cores: int | None
) -> None:
    """VA-1: 101 means that none is given, which no other vendor ever says."""
    request = asked(backend, mem=mem, cores=cores)
    assert request is not None
    is_said = request.mem_percent == NO_PERCENTAGE
    assert is_said == (backend.vendor_key == "NVIDIA" and mem is not None)


@pytest.mark.parametrize("amount", [INT32_MAX + 8, 2**32 + 7])
@pytest.mark.parametrize(("backend", "name"), NAMED)
def test_an_amount_that_32_bits_do_not_hold_is_none_or_a_whole_cards(
    backend: DeviceBackend, name: str, amount: int
) -> None:
    """VA-1: numbers are 32 bits wide; here nothing is what is left of a wider one (Q-48)."""
    request, whole = asked(backend, **{name: amount}), asked(backend)
    assert request is None or (whole and amounts(request) == amounts(whole))


def amounts(request: CardRequest) -> tuple[int, int, int]:
    return request.cards, request.mem_mib, request.cores
