import pytest

from simcluster.quantities import canonical, value_of


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2000m", "2"),
        ("1.0", "1"),
        ("16.0Gi", "16Gi"),
        ("1.5Ki", "1536"),
        ("1.5Gi", "1536Mi"),
        ("1500m", "1500m"),
        ("32768", "32768"),
        ("100000", "100k"),
        ("40000", "40k"),
        ("1000", "1k"),
        ("200", "200"),
        ("0", "0"),
        ("1024Mi", "1Gi"),
        ("0.5", "500m"),
        ("1e3", "1e3"),
        ("-5", "-5"),
        (7, "7"),
    ],
)
def test_quantities_are_written_in_canonical_form(text: object, written: str) -> None:
    """VB-7."""
    assert canonical(text) == written
    assert value_of(written) == value_of(text)


@pytest.mark.parametrize("text", ["", "x", "1kk", "1 Gi", "--1"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quantities must match"):
        canonical(text)
