"""Use and no-use lists (P-15, P-16, VB-16, VB-17)."""

import pytest

from scheduler_app.core import selection

USE, NOUSE = "use", "nouse"


@pytest.mark.parametrize(
    ("annotations", "accepted"),
    [
        ({}, True),
        ({USE: ""}, True),
        ({USE: "  "}, True),
        ({USE: "b, a"}, True),
        ({USE: "b"}, False),
        ({USE: "A"}, False),
        ({USE: ","}, False),
        ({NOUSE: "a"}, False),
        ({NOUSE: " b ,c"}, True),
        ({NOUSE: ","}, True),
        ({USE: "a", NOUSE: "a"}, False),
        ({USE: "a", NOUSE: "b"}, True),
    ],
)
def test_ids_are_compared_exactly(annotations: dict[str, str], accepted: bool) -> None:
    """P-15: a blank list is no constraint, and both lists apply."""
    assert selection.accepts_uuid(annotations, "a", use=USE, nouse=NOUSE) is accepted


@pytest.mark.parametrize(
    ("annotations", "accepted"),
    [
        ({}, True),
        ({USE: " "}, True),
        ({USE: "a100"}, True),
        ({USE: "V100,tesla"}, True),
        ({USE: "V100"}, False),
        ({USE: ","}, False),
        ({USE: ",a100"}, True),
        ({NOUSE: "A100"}, False),
        ({NOUSE: ",V100,"}, True),
        ({USE: "NVIDIA", NOUSE: "80GB"}, False),
    ],
)
def test_models_are_compared_by_parts(annotations: dict[str, str], accepted: bool) -> None:
    """P-16: case does not matter, empty items match nothing."""
    model = "NVIDIA-Tesla A100 80GB"
    assert selection.accepts_type(annotations, model, use=USE, nouse=NOUSE) is accepted
