"""What containers ask, collected by vendor: every backend of the shipped configuration."""

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.predicate import requests_of
from scheduler_app.core.quantity import INT32_MAX
from scheduler_app.core.types import CardRequest, Container
from tests.devices.machines import SHIPPED
from tests.factories import make_container, make_pod

BACKENDS = list(SHIPPED.backends.values())
LIMITS_ONLY = {"Metax-SGPU", "AMD"}  # MXS-6, AMD-20


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.vendor_key)
def backend(request: pytest.FixtureRequest) -> DeviceBackend:
    assert isinstance(request.param, DeviceBackend)
    return request.param


def counts(backend: DeviceBackend, *numbers: int) -> tuple[Container, ...]:
    return tuple(make_container(limits={backend.names.count: number}) for number in numbers)


def number(backend: DeviceBackend, request: CardRequest | None) -> int:
    """Return the number that was asked; one vendor's is a number of slices of one card (ENF-5)."""
    if request is None:
        return 0
    return request.mem_mib if backend.vendor_key == "Enflame" else request.cards


def test_requests_are_kept_under_the_vendors_key_init_containers_first(backend: DeviceBackend) -> None:
    """VB-1, VC-1: five values of 32 bits; a number of cards that is 0 or less asks for nothing."""
    nothing = make_container(limits={"cpu": 4})
    pod = make_pod(containers=(*counts(backend, 0, -1, 1), nothing), init_containers=counts(backend, 2))
    first, *middle, last, none = requests_of(pod, SHIPPED.backends)
    assert (list(first), middle, list(last), none) == (
        [backend.vendor_key],
        [{}, {}],
        [backend.vendor_key],
        {},
    )
    two, one = first[backend.vendor_key], last[backend.vendor_key]
    assert (number(backend, two), number(backend, one), one.type) == (2, 1, backend.vendor_key)
    amounts = (one.cards, one.mem_mib, one.mem_percent, one.cores)
    assert all(-INT32_MAX <= amount <= INT32_MAX for amount in amounts)


def test_the_number_is_read_in_the_limits_and_else_in_the_requests(backend: DeviceBackend) -> None:
    """VA-6, VC-3, VB-8: a number of 0 in the limits hides the one in the requests."""
    count = backend.names.count
    asked = backend.request(make_container(requests={count: 2}))
    assert number(backend, asked) == (0 if backend.vendor_key in LIMITS_ONLY else 2)
    both = make_container(limits={count: 1}, requests={count: 2})
    assert number(backend, backend.request(both)) == 1
    hidden = make_container(limits={count: 0}, requests={count: 2})
    assert number(backend, backend.request(hidden)) == 0


def named_amounts(backend: DeviceBackend) -> tuple[str, ...]:
    return tuple(name for name in (*backend.memory_names, backend.names.cores) if name)


EITHER = {"AWSNeuron", "Enflame"}  # a number, or else amounts (NEU-4, ENF-5)
WITH_AMOUNTS = [b for b in BACKENDS if named_amounts(b) and b.vendor_key not in LIMITS_ONLY | EITHER]


@pytest.mark.parametrize("backend", WITH_AMOUNTS, ids=lambda backend: backend.vendor_key)
def test_amounts_are_looked_up_each_on_its_own(backend: DeviceBackend) -> None:
    """VC-3, VB-8: a number in the limits and an amount in the requests are one request."""
    one = {backend.names.count: 1}
    for name in named_amounts(backend):
        in_limits = backend.request(make_container(limits={**one, name: 7}))
        assert backend.request(make_container(limits=one, requests={name: 7})) == in_limits
        assert backend.request(make_container(limits=one)) != in_limits
        zero = backend.request(make_container(limits={**one, name: 0}))
        assert backend.request(make_container(limits={**one, name: 0}, requests={name: 7})) == zero
