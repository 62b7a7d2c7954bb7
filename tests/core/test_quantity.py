"""Quantities read as integers (VB-5 to VB-7)."""

import pytest

from scheduler_app.core import quantity

READINGS = [  # VB-E01 to VB-E12: text, exact reading, rounded reading
    ("2000m", None, 2),
    ("1.0", None, 1),
    ("1.5k", 1500, 1500),
    ("1500m", None, 2),
    ("-1m", None, -1),
    ("-1500m", None, -2),
    ("16Gi", 17179869184, 17179869184),
    ("16.0Gi", None, 17179869184),
    ("1Ti", 1099511627776, 1099511627776),
    ("99Ti", 108851651149824, 108851651149824),
    ("100Ti", None, 109951162777600),
    ("1Pi", None, 1125899906842624),
    ("1e3", 1000, 1000),
    ("1234567890123456789", None, 1234567890123456789),
    ("00", 0, 0),
    ("0.0", None, 0),
    ("0m", None, 0),
]


@pytest.mark.parametrize(("text", "exact", "rounded"), READINGS)
def test_a_quantity_has_two_readings(text: str, exact: int | None, rounded: int) -> None:
    """VA-5, VB-5, VC-2, VB-E01 to VB-E12: absent and rounded are told apart."""
    assert quantity.exact(text) == exact
    assert quantity.rounded(text) == rounded


@pytest.mark.parametrize(("value", "text"), [(32768, "32768"), (100000, "100k"), (1000, "1k"), (200, "200")])
def test_integers_are_written_as_the_api_server_writes_them(value: int, text: str) -> None:
    """VB-7."""
    assert quantity.canonical(value) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2147483647", 2147483647),
        ("-2147483648", -2147483648),
        ("2147483648", None),
        ("4294967297", None),
        ("1500m", None),
    ],
)
def test_what_32_bits_cannot_hold_is_never_wrapped(text: str, value: int | None) -> None:
    """Architecture, section 6: the reference reads 4294967297 as 1."""
    assert quantity.int32(text) == value


@pytest.mark.parametrize(
    ("text", "factor", "value"),
    [
        ("128", 10, 1280),
        ("128", 0, 128),
        ("128", 1, 128),
        ("8388607", 256, 2147483392),
        ("8388608", 256, None),
        ("300000000", 10, None),
        ("-1", 1, None),
        ("1500m", 1, None),
    ],
)
def test_amounts_in_a_vendors_unit_are_scaled_or_dropped(text: str, factor: int, value: int | None) -> None:
    """ASC-31, MLU-22, DCU-22, ILU-22."""
    assert quantity.scaled(text, factor) == value


@pytest.mark.parametrize(
    ("value", "by", "result"), [(5, 2, 2), (-5, 2, -2), (5, -2, -2), (-4, 2, -2), (0, -3, 0)]
)
def test_division_is_towards_zero(value: int, by: int, result: int) -> None:
    """MT-E13."""
    assert quantity.divided(value, by) == result


@pytest.mark.parametrize(
    ("text", "has_unit"),
    [
        ("16", False),
        ("1500", False),
        ("1000", True),
        ("16Gi", True),
        ("1.5k", False),
        ("1.500k", True),
        ("1k", True),
        ("2e0", True),
        ("1.5e1", True),
        ("0.5e1", False),
        ("1e1", False),
        ("1e3", True),
        ("0", False),
        ("junk", False),
    ],
)
def test_the_canonical_text_has_a_letter_or_not(text: str, has_unit: bool) -> None:
    """MXS-6: it decides between GiB and bytes."""
    assert quantity.has_unit(text) is has_unit


@pytest.mark.parametrize(
    ("text", "value"), [("9" * 5000, 2**63 - 1), ("-9999999999Ei", 1 - 2**63), ("1e300", 2**63 - 1)]
)
def test_what_64_bits_do_not_hold_is_rounded_to_the_most_they_do(text: str, value: int) -> None:
    """As the API server caps it; such a number could not even be written into a message."""
    assert quantity.rounded(text) == value
