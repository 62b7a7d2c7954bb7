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
        ({NOUSE: "A100,"}, False),
        ({NOUSE: "V100,,H100"}, True),
        ({USE: "A100 , "}, True),
        ({USE: "V100,,H100"}, False),
        ({USE: "NVIDIA", NOUSE: "80GB"}, False),
    ],
)
def test_models_are_compared_by_parts(annotations: dict[str, str], accepted: bool) -> None:
    """F24, P-16: case does not matter, empty items match nothing, blanks around an item are cut."""
    model = "NVIDIA-Tesla A100 80GB"
    assert selection.accepts_type(annotations, model, use=USE, nouse=NOUSE) is accepted


@pytest.mark.parametrize(("model", "accepted"), [("A", True), ("B", False), ("C", False)])
def test_f25_with_both_lists_both_apply(model: str, accepted: bool) -> None:
    """P-15, P-16: what the deny list names is refused although the other list names it as well."""
    lists = {USE: "A,B", NOUSE: "B"}
    assert selection.accepts_type(lists, model, use=USE, nouse=NOUSE) is accepted
    assert selection.accepts_uuid(lists, model, use=USE, nouse=NOUSE) is accepted


@pytest.mark.parametrize(
    ("model", "accepted"), [("NVIDIA-H20", True), ("NVIDIA-H200", True), ("A100", False)]
)
def test_f22_a_shorter_name_matches_the_longer_one_too(model: str, accepted: bool) -> None:
    """P-16: kept for compatibility; who wants one of them excludes the other."""
    wanted = {USE: "H20"}
    assert selection.accepts_type(wanted, model, use=USE, nouse=NOUSE) is accepted
    exact = {**wanted, NOUSE: "H200"}
    assert selection.accepts_type(exact, model, use=USE, nouse=NOUSE) is (model == "NVIDIA-H20")
