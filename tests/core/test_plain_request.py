"""The request of vendors that count cards, memory units and cores alike."""

import pytest

from scheduler_app.core import plain_request
from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.types import CardRequest, VendorKey
from tests.factories import make_container, make_draft

NAMES = ResourceNames(count="x/n", mem="x/m", cores="x/c", mem_factor=256)
KEY = VendorKey("X")


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"x/n": 2, "x/m": 10, "x/c": 20}, CardRequest(2, KEY, 2560, 0, 20)),
        ({"x/n": 1}, CardRequest(1, KEY, 0, 100, 7)),
        ({"x/n": 1, "x/c": "1500m"}, CardRequest(1, KEY, 0, 100, 7)),
        ({"x/n": 1, "x/c": 4294967297}, None),
        ({"x/n": 1, "x/m": "1500m"}, None),
        ({"x/n": 1, "x/m": 8388608}, None),
        ({"x/n": 4294967297}, None),
        ({}, None),
    ],
)
def test_three_amounts_make_a_request(limits: dict[str, object], expected: CardRequest | None) -> None:
    """MLU-21 to MLU-24, ILU-21 to ILU-24."""
    found = plain_request.read(make_container(limits=limits), NAMES, type=KEY, default_cores=7)
    assert found == expected


def test_limits_hide_requests_one_by_one() -> None:
    """VB-8."""
    container = make_container(limits={"x/n": 1, "x/m": 0}, requests={"x/m": 5, "x/c": 3})
    found = plain_request.read(container, NAMES, type=KEY, default_cores=7)
    assert found == CardRequest(1, KEY, 0, 100, 3)


def test_each_amount_that_is_dropped_is_named_with_what_is_allowed() -> None:
    """Architecture, section 7: W16, W17."""
    container = make_draft("train", limits={"x/n": 0, "x/m": 8388608, "x/c": "1500m"})
    plain_request.warn(container, NAMES)
    assert container.pod.warnings == [
        "container train: x/n is 0, must be a whole number between 1 and 2147483647",
        "container train: x/m is 8388608, must be a whole number between 0 and 8388607",
        "container train: x/c is 1500m, must be a whole number between 0 and 2147483647",
    ]
