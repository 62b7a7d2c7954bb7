"""Which profile a request gets. Rule ENF-6, cases ENF-E14 to ENF-E21, ENF-E24, ENF-E25."""

import pytest

from scheduler_app.core.types import CardRequest
from scheduler_app.devices.enflame import profiles
from tests.devices.enflame.slices import KEY, PROFILES, drs_card

WITH_2G = {**PROFILES, "2g.13gb": "3"}


def direct(size: int) -> CardRequest:
    return CardRequest(1, KEY, size, 0, 0)


def by_spec(mem: int = 0, cores: int = 0) -> CardRequest:
    return CardRequest(1, KEY, mem, -1, cores)


def chosen(request: CardRequest, kinds: dict[str, str] = PROFILES, *, max_slice: int = 6) -> str | None:
    choice = profiles.choose([drs_card(profiles=kinds, max_slice=max_slice)], request)
    return None if choice is None else choice.profile.name


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("1G.6GB", (1, 6)),
        (" 2g.12gb ", (2, 12)),
        ("3.24", (3, 24)),
        ("3g.24gb.me", (3, 24)),
        ("+3g.24gb", (3, 24)),
        ("3 g.24gb", (0, 0)),
        ("3gg.24gb", (0, 0)),
        ("3g", (0, 0)),
        ("g.24gb", (0, 0)),
        ("0g.5gb", (0, 5)),
        ("-3g.24gb", (-3, 24)),
        ("4g.xx", (4, 0)),
        ("3g.24gbgb", (3, 0)),
    ],
)
def test_a_profile_is_known_by_its_name(name: str, parsed: tuple[int, int]) -> None:
    """ENF-E14 to ENF-E16."""
    assert profiles.parse(name) == parsed


@pytest.mark.parametrize(("size", "name"), [(3, "3g.20gb"), (6, "6g.40gb"), (2, None), (0, None)])
def test_a_slice_is_asked_for_by_its_size(size: int, name: str | None) -> None:
    """ENF-E17."""
    assert chosen(direct(size)) == name


@pytest.mark.parametrize(
    ("mem", "name"),
    [
        (6, "1g.6gb"),
        (7, "2g.13gb"),
        (41, None),
        (80, None),
        (81, "1g.6gb"),
        (6144, "1g.6gb"),
        (6145, "2g.13gb"),
        (40961, None),
        (0, "1g.6gb"),
        (-5, "1g.6gb"),
    ],
)
def test_memory_is_gb_unless_no_card_could_have_so_much(mem: int, name: str | None) -> None:
    """ENF-E18, ENF-E21 [quirk]."""
    assert chosen(by_spec(mem), WITH_2G) == name


@pytest.mark.parametrize(
    ("cores", "name"), [(17, "1g.6gb"), (18, "2g.13gb"), (50, "3g.20gb"), (51, "6g.40gb"), (101, None)]
)
def test_cores_are_percent_of_the_card(cores: int, name: str | None) -> None:
    """ENF-E19."""
    assert chosen(by_spec(cores=cores), WITH_2G) == name


def test_a_choice_says_how_the_request_was_understood() -> None:
    """ENF-E20."""
    choice = profiles.choose([drs_card()], by_spec(20480, 40))
    assert choice is not None
    assert (choice.profile.name, choice.mem_mib, choice.cores, choice.asked_gb) == ("3g.20gb", 20480, 50, 20)


def test_of_two_profiles_of_one_size_the_smaller_memory_is_given() -> None:
    """ENF-E24."""
    assert chosen(direct(3), {"3g.24gb": "0", "3g.20gb": "1"}) == "3g.20gb"


def test_of_equal_profiles_the_smaller_name_is_given() -> None:
    """ENF-6 [latitude]."""
    assert chosen(direct(3), {"3g.20gb.b": "0", "3g.20gb.a": "1"}) == "3g.20gb.a"


def test_percents_are_rounded_up_from_the_nodes_largest_slice() -> None:
    """ENF-E25."""
    choice = profiles.choose([drs_card(max_slice=7)], direct(3))
    assert choice is not None
    assert choice.cores == 43


def test_without_a_largest_slice_the_largest_profile_is_the_whole() -> None:
    """ENF-6."""
    choice = profiles.choose([drs_card(max_slice=0)], direct(3))
    assert choice is not None
    assert choice.cores == 50


@pytest.mark.parametrize("kinds", [{}, {"4g.xx": "0"}, {"3g.2097152gb": "0"}])
def test_what_cannot_be_counted_is_never_given(kinds: dict[str, str]) -> None:
    """ENF-E16, ENF-6."""
    assert chosen(by_spec(1), kinds) is None
