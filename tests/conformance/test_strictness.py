"""The replay itself: whatever a recorded case states differently is found (rule 1 of the data)."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scheduler_app.conformance import cases, runner
from scheduler_app.conformance.cases import Case

Json = dict[str, Any]
Place = tuple[str | int, ...]
DATA = Path(__file__).parent / "data"
PLAIN = (
    "nvidia/basic/0001",
    "mig/fill/0001",
    "quota/nvidia/0001",
    "refusal/nvidia/0001",
    "lifecycle/random/x0001",
    "simulation/nvidia/x0001",
    "register/nvidia/x0001",
    "adm-nvidia-count1",
    "cfg-chart",
    "ev-ok",
    "http-healthz-get",
    "lead-none",
    "bind-ok",
    "met-nv-used",
    "qty-parse-00",
    "reg-csv-00",
    "reg-lp-nvidia-again",
)
SPARED = frozenset(
    ("body_text", "trailing_newline", "text_sorted", "patch", "patchType", "canonical", "error")
)
"""Not compared: JSON, samples and amounts go by value, patches by what they make, errors by being there."""
MORE = "+"
TRIED = 120

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def recorded() -> dict[str, Case]:
    return {case.id: case for case in cases.load(DATA, names=frozenset(PLAIN))}


@pytest.mark.parametrize("name", PLAIN)
def test_each_change_of_what_is_stated_is_found(name: str, recorded: dict[str, Case]) -> None:
    case = recorded[name]
    before = copy.deepcopy(case.raw)
    assert runner.outcome(case).problem is None
    assert case.raw == before
    places = list(stated(case.raw))
    tried = places[:: max(1, len(places) // TRIED)]
    missed = [place for place in tried if runner.outcome(changed(case, place)).problem is None]
    assert not missed


def stated(raw: Json) -> Iterator[Place]:
    """Yield the place of every value that is expected, and of members and items that are not."""
    if "steps" in raw and "expect" not in raw:
        for number, step in enumerate(raw["steps"]):
            for name in step.keys() & {"expect", "scores", "expect_usage"}:
                yield from _leaves(step[name], ("steps", number, name))
        yield from _leaves(raw.get("expect_usage", {}), ("expect_usage",))
    else:
        yield from _leaves(raw["expect"], ("expect",))


def _leaves(value: Any, place: Place) -> Iterator[Place]:
    is_request = len(place) == 2 and place[0] == "expect"
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for name, item in members:
        if name in SPARED and (place[0] == "expect"):
            continue
        if isinstance(item, (dict, list)):
            yield from _leaves(item, (*place, name))
        else:
            yield (*place, name)
    if value or is_request:
        yield (*place, MORE)


def changed(case: Case, place: Place) -> Case:
    """Return a case that expects something else at ``place``."""
    raw = copy.deepcopy(case.raw)
    target: Any = raw
    for name in place[:-1]:
        target = target[name]
    last = place[-1]
    if last == MORE:
        target.update(strange=1) if isinstance(target, dict) else target.append("strange")
    else:
        target[last] = _other(target[last])
    return replace(case, raw=raw)


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return "strange" if value is None else f"1{value}"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"surprise": 1}, "unknown member"),
        ({"steps": [{"op": "sing"}]}, "unsupported step"),
    ],
)
@pytest.mark.parametrize("name", ["nvidia/basic/0001", "bind-ok"])
def test_what_the_replay_does_not_know_fails(
    name: str, change: Json, told: str, recorded: dict[str, Case]
) -> None:
    case = recorded[name]
    raw = {**case.raw, **change}
    if "expect" in raw:
        raw["expect"] = raw["expect"][: len(raw["steps"])]
    assert told in (runner.outcome(replace(case, raw=raw)).problem or "")


def test_a_quirk_that_nobody_judges_fails(recorded: dict[str, Case]) -> None:
    case = recorded["nvidia/basic/0001"]
    found = runner.outcome(replace(case, raw={**case.raw, "quirks": ["Q-999"]}))
    assert found.problem == "HamiError: case: no judge for Q-999"


def test_results_beyond_the_last_step_fail(recorded: dict[str, Case]) -> None:
    case = recorded["bind-ok"]
    found = runner.outcome(replace(case, raw={**case.raw, "expect": [*case.raw["expect"], {}]}))
    assert "another number of results" in (found.problem or "")
