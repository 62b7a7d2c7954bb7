"""Limits by object, use by what pods hold (M-24 to M-31, Q-24)."""

from dataclasses import replace

import pytest

from scheduler_app.core.types import ResourceQuota, VendorKey
from tests.core.plain import CORES, COUNT, MEM, PLAIN, PlainBackend
from tests.engine.world import ASSIGNED, VENDOR, World, asking, holding, pod_of, registered

NAMES = PLAIN.names


def quota(name: str = "q", /, **hard: object) -> ResourceQuota:
    names = {"mem": f"limits.{MEM}", "cores": f"limits.{CORES}", "count": f"limits.{COUNT}"}
    return ResourceQuota("default", name, {names.get(key, key): str(value) for key, value in hard.items()})


@pytest.fixture
def world() -> World:
    return World(registered("n1", "a", "b"))


def limit(world: World, resource: str = MEM) -> int | None:
    entry = world.state.quota("default").entries.get(resource)
    return entry.limit if entry else None


def allows(world: World, mem_mib: int, cores: int = 0) -> bool:
    return world.state.quota("default").allows(NAMES, mem_mib=mem_mib, cores=cores)


def test_q15_the_smallest_limit_of_several_objects_holds(world: World) -> None:
    """Q-24: deleting one leaves the other's limit."""
    big, small = quota("a", mem=8192), quota("b", mem=4096)
    for item in (small, big):
        world.state.see_quota(item)
    assert limit(world) == 4096
    assert world.state.quota("default").entries[MEM].source == "b"
    world.state.lose_quota(small)
    assert limit(world) == 8192


def test_q09_q11_a_key_that_an_edit_drops_no_longer_limits(world: World) -> None:
    """M-27, M-28."""
    world.state.see_quota(quota(mem=100, cores=10))
    world.state.see_quota(quota(cores=10))
    assert (limit(world), limit(world, CORES)) == (None, 10)


def test_use_survives_the_quota_object(world: World) -> None:
    """M-27."""
    world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    world.state.see_quota(quota(mem=500))
    world.state.lose_quota(quota(mem=500))
    assert world.quota_used() == 100


def test_q12_q14_only_memory_and_core_limits_are_kept(world: World) -> None:
    """IF-5, M-25, M-26: `requests.` keys, card counts and other resources are not ours."""
    hard = {"requests.plain.io/mem": 1, "limits.memory": 1, "pods": 1}
    world.state.see_quota(ResourceQuota("default", "q", {key: str(value) for key, value in hard.items()}))
    world.state.see_quota(quota("r", count=2))
    assert not world.state.quota("default").entries


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10Gi", 10 * 2**30),
        ("1e3", 1000),
        ("-5", -5),
        ("1.0", None),
        ("1000m", None),
        ("100Ti", None),
        ("9" * 19, None),
        ("lots", None),
    ],
)
def test_limits_need_an_exact_reading(world: World, text: str, value: int | None) -> None:
    """M-26, Q-25: units are not converted; what cannot be read exactly limits nothing."""
    world.state.see_quota(quota(mem=text))
    assert limit(world) == value


def test_equality_fits_and_a_limit_of_zero_blocks(world: World) -> None:
    """M-31, M-32."""
    world.state.see_quota(quota(mem=100))
    assert allows(world, 100)
    assert not allows(world, 101)
    world.state.see_quota(quota(mem=0))
    assert not allows(world, 1)
    assert allows(world, 0)


def test_what_is_over_the_limit_already_refuses_even_nothing_more(world: World) -> None:
    """M-31 (T)."""
    world.state.see_pod(holding(pod_of(), "n1", "a,Plain,100,10:;"))
    world.state.see_quota(quota(mem=50))
    assert not allows(world, 0)


def test_unknown_namespaces_have_no_limits(world: World) -> None:
    assert world.state.quota("nowhere").allows(NAMES, mem_mib=10**9, cores=10**9)


def test_q08_filtering_again_with_another_size_counts_the_last_only(world: World) -> None:
    world.filter(pod_of(asking(mem_mib=100)))
    world.filter(pod_of(asking(mem_mib=700)))
    assert world.quota_used() == 700


def test_q10_use_never_goes_below_zero(world: World) -> None:
    """M-30."""
    held = holding(pod_of(), "n1", "a,Plain,100,10:;")
    world.state.see_pod(held)
    for _ in range(2):
        world.state.lose_pod(held.uid)
    assert world.quota_used() == 0


def test_f06_a_vendor_that_is_not_registered_is_not_charged(world: World) -> None:
    """M-29."""
    world.state.see_pod(holding(pod_of(), "n1", ""))
    assert world.quota_used() == 0


class Twin(PlainBackend):
    """Another vendor whose resources have the same names."""

    vendor_key = VendorKey("Twin")
    keys = replace(PLAIN.keys, allocated="twin.io/allocated", to_allocate="twin.io/to-allocate")


def test_q_26_vendors_with_equal_names_share_a_counter() -> None:
    """IF-5, M-29: what is counted is the resource."""
    world = World(registered("n1", "a", "b"), backends={VENDOR: PLAIN, Twin.vendor_key: Twin()})
    for vendor, key in (("Plain", PLAIN.keys.allocated), ("Twin", Twin.keys.allocated)):
        written = {ASSIGNED: "n1", key: f"a,{vendor},100,10:;"}
        world.state.see_pod(pod_of(name=vendor, uid=vendor, annotations=written))
    assert world.quota_used() == 200
