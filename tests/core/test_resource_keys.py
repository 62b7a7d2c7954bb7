"""Resource names that are almost one of ours (F35)."""

import pytest

from scheduler_app.core import resource_keys

KNOWN = frozenset(("nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores", "hygon.com/dcunum"))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nvidia.com/gpumen", "nvidia.com/gpumem"),
        ("nvidia.com/gpu-mem", "nvidia.com/gpumem"),
        ("nvidia.com/GPU", "nvidia.com/gpu"),
        ("NVIDIA.com/gpumem", "nvidia.com/gpumem"),
        ("nvidia.com/gpus", "nvidia.com/gpu"),
        ("nvidia.com/gpucore", "nvidia.com/gpucores"),
        ("hygon.com/dcumun", "hygon.com/dcunum"),
    ],
)
def test_f35_a_near_miss_names_what_was_meant(name: str, meant: str) -> None:
    assert list(resource_keys.near_misses([name], KNOWN)) == [(name, meant)]


@pytest.mark.parametrize(
    "name",
    [
        *KNOWN,
        "cpu",
        "gpumen",
        "amd.com/gpumen",
        "nvidia.com/",
        "nvidia.com/mig-1g.5gb",
        "nvidia.com/gpu.shared",
        "nvidia.com/gpu-x",
        "hygon.com/" + "x" * 10_000,
    ],
)
def test_f35_other_resources_are_left_alone(name: str) -> None:
    """Another domain, another word, or a resource of the vendor's own device plugin."""
    assert list(resource_keys.near_misses([name], KNOWN)) == []


def test_f35_a_pod_full_of_names_costs_bounded_work() -> None:
    names = [f"nvidia.com/gpum{n:02}" for n in range(100)]
    assert len(list(resource_keys.near_misses(names, KNOWN))) == resource_keys.MOST_EXAMINED


@pytest.mark.parametrize(
    ("left", "right", "distance"), [("", "", 0), ("abc", "", 3), ("gpumen", "gpumem", 1), ("mem", "emm", 2)]
)
def test_edits_are_counted(left: str, right: str, distance: int) -> None:
    assert resource_keys.edits(left, right) == resource_keys.edits(right, left) == distance
