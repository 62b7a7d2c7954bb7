"""What a pod counts for on its cards (M-12 to M-15, with Q-5 and Q-23)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_app.core import accounting
from scheduler_app.core.accounting import Amount
from scheduler_app.core.types import Allocation, CardId, Container, Containers, Pod, VendorKey
from tests.factories import make_container, make_context, make_pod

X = VendorKey("X")
Held = list[tuple[str, int, int]]  # card, MiB, cores


def pod(*, inits: int = 0, apps: int = 1, sidecars: int = 0) -> Pod:
    return make_pod(
        init_containers=tuple(make_container() for _ in range(inits))
        + tuple(Container(restarts_always=True) for _ in range(sidecars)),
        containers=tuple(make_container() for _ in range(apps)),
    )


def containers(*held: Held) -> Containers:
    return tuple(tuple(Allocation(CardId(id), "model", mem, cores) for id, mem, cores in one) for one in held)


def effective(given_pod: Pod, *held: Held) -> list[tuple[str, int, int, int]]:
    """Return card, MiB, cores and shares."""
    (one,) = accounting.collapse(given_pod, {X: containers(*held)})[X]
    return [(use.card, use.mem_mib, use.cores, use.shares) for use in one]


@pytest.mark.parametrize(
    ("inits", "held", "expected"),
    [
        (1, [[("a", 500, 50)], [("a", 100, 10)]], [("a", 500, 50, 1)]),
        (0, [[("a", 100, 10)], [("a", 200, 20)]], [("a", 300, 30, 2)]),
        (3, [[("a", 100, 10)], [("a", 300, 30)], [("a", 200, 20)], [("a", 50, 5)]], [("a", 300, 30, 1)]),
        (1, [[("a", 100, 10)], [("a", 200, 20)], [("a", 300, 30)]], [("a", 500, 50, 2)]),
        (0, [[("a", 1, 1), ("a", 1, 1)]], [("a", 2, 2, 2)]),
        (1, [[("a", 500, 5)], [("a", 100, 50)]], [("a", 500, 50, 1)]),
        (0, [[("b", 1, 0)], [("a", 2, 0)]], [("a", 2, 0, 1), ("b", 1, 0, 1)]),
        (0, [[("a", 0, -20)]], [("a", 0, 0, 1)]),
        (0, [[], []], []),
    ],
)
def test_init_containers_peak_and_app_containers_add_up(
    inits: int, held: list[Held], expected: list[tuple[str, int, int, int]]
) -> None:
    """M-12: memory and cores apart; an absent side counts as 0 (NV-E83); cards sorted by id."""
    assert effective(pod(inits=inits, apps=len(held) - inits), *held) == expected


def test_the_record_carries_the_vendor_and_no_model() -> None:
    """M-12."""
    ((use,),) = accounting.collapse(pod(), {X: containers([("a", 1, 1)])})[X]
    assert (use.type, use.index, dict(use.custom)) == ("X", 0, {})


def test_a_sidecar_counts_beside_the_app_containers() -> None:
    """Q-23: it never ends before them."""
    held = [[("a", 100, 10)], [("a", 200, 20)]]
    assert effective(pod(sidecars=1, apps=1), *held) == [("a", 300, 30, 2)]


def running(given_pod: Pod, *held: Held) -> list[tuple[str, int, int, int]]:
    (one,) = accounting.app_only(given_pod, {X: containers(*held)})[X]
    return [(use.card, use.mem_mib, use.cores, use.shares) for use in one]


def test_after_the_init_containers_only_what_runs_counts() -> None:
    """M-13."""
    held = [[("a", 500, 50), ("b", 1, 1)], [("a", 100, 10)], [("a", 100, 10)]]
    assert running(pod(inits=1, apps=2), *held) == [("a", 200, 20, 2)]
    assert running(pod(sidecars=1, apps=2), *held) == [("a", 700, 70, 3), ("b", 1, 1, 1)]
    assert running(pod(inits=1, apps=1), [("a", 5, 5)], []) == []


def test_quota_counts_a_vendors_sum() -> None:
    """M-29."""
    devices = accounting.collapse(pod(), {X: containers([("a", 100, 10), ("b", 50, 5)])})
    assert accounting.total(devices, X) == Amount(150, 15, 2)
    assert accounting.total(devices, VendorKey("Y")) == Amount()


def test_a_container_under_way_counts_at_its_true_position() -> None:
    """NV-46 with Q-5 fixed: earlier containers of other vendors leave gaps, not shifts."""
    before = containers([("a", 1500, 0)])
    context = make_context(pod=pod(inits=1, apps=2), given={X: before}, position=2)
    more = containers([("a", 600, 0)])[0]
    assert accounting.with_container(context, X, more) == Amount(1500, 0, 1)
    context = make_context(pod=pod(inits=0, apps=3), given={X: before}, position=2)
    assert accounting.with_container(context, X, more) == Amount(2100, 0, 2)


amounts = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 100), st.integers(0, 100)), max_size=3)


@given(st.integers(0, 3), st.lists(amounts, min_size=3, max_size=5))
def test_the_effective_use_is_between_the_largest_container_and_the_sum(inits: int, held: list[Held]) -> None:
    """M-12."""
    given_pod = pod(inits=inits, apps=len(held) - inits)
    found = {card: mem for card, mem, _, _ in effective(given_pod, *held)}
    for card, mem in found.items():
        uses = [amount for one in held for id, amount, _ in one if id == card]
        assert max(uses) <= mem <= sum(uses)
    shrunk = {card: mem for card, mem, _, _ in running(given_pod, *held)}
    assert all(mem <= found[card] for card, mem in shrunk.items())


@given(st.integers(0, 3), st.lists(amounts, min_size=3, max_size=5))
def test_the_container_under_way_counts_as_it_will_afterwards(inits: int, held: list[Held]) -> None:
    """NV-46: what quota was asked for is what the pod is charged when it is placed."""
    given_pod = pod(inits=inits, apps=len(held) - inits)
    context = make_context(pod=given_pod, given={X: containers(*held[:-1])}, position=len(held) - 1)
    asked = accounting.with_container(context, X, containers(*held)[-1])
    assert asked == accounting.total(accounting.collapse(given_pod, {X: containers(*held)}), X)
