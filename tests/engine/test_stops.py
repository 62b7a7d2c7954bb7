"""Which container of a pod that asks with several did not fit, and where (console.md 6.2)."""

from dataclasses import replace

from scheduler_app.core.publication import PendingPod, StopView
from scheduler_app.core.types import Container, Pod
from scheduler_app.engine.pending import PendingBoard
from tests.engine.world import PLAIN_ONLY, World, asking, pod_of, registered


def waiting(pod: Pod, *, nodes: dict[str, int] | None = None) -> PendingPod:
    """Return a pod as the board has it after a try on these nodes, and on one that is not registered."""
    sizes = nodes or {"n1": 1000, "n2": 600, "n3": 600, "n4": 300}
    world = World(*(registered(name, f"card-{name}", mem_mib=mem) for name, mem in sizes.items()))
    board = PendingBoard(backends=PLAIN_ONLY, scheduler_name="")
    board.decided(world.filter(pod, [*sizes, "n9"]))
    (found,) = board.waiting()
    return found


def load_and_serve(load: int, serve: int) -> Pod:
    """Return a pod of two containers that ask, with one between them that does not."""
    return pod_of(asking(mem_mib=load, name="load"), Container("log"), asking(mem_mib=serve, name="serve"))


def test_nodes_are_told_by_the_container_they_refused_the_nearest_first() -> None:
    """n1 has room for the first container and not for both; the others not even for that one."""
    pod = waiting(load_and_serve(700, 400))
    assert pod.stops == (
        StopView("serve", 1, 1, ("n1",)),
        StopView("load", 0, 3, ("n2", "n3", "n4")),
    )
    assert [(group.text, group.nodes, group.containers) for group in pod.groups] == [
        ("1/1 CardInsufficientMemory", 4, ("load", "serve")),
        ("node unregistered", 1, ()),
    ]


def test_where_all_nodes_fail_at_one_container_there_is_one() -> None:
    pod = waiting(load_and_serve(100, 2000))
    assert pod.stops == (StopView("serve", 1, 4, ("n1", "n2", "n3", "n4")),)


def test_examples_are_few() -> None:
    pod = waiting(load_and_serve(100, 2000), nodes={f"m{n}": 900 for n in range(8)})
    assert pod.stops == (StopView("serve", 1, 8, ("m0", "m1", "m2", "m3", "m4")),)


def test_init_containers_count_as_the_first() -> None:
    pod = replace(load_and_serve(100, 100), init_containers=(asking(mem_mib=5000, name="fetch"),))
    assert [(stop.container, stop.fitted) for stop in waiting(pod).stops] == [("fetch", 0)]


def test_a_pod_that_asks_with_one_container_has_no_stops() -> None:
    pod = waiting(pod_of(Container("log"), asking(mem_mib=5000)))
    assert (pod.stops, [group.containers for group in pod.groups]) == ((), [(), ()])


def test_pods_that_differ_in_the_names_of_containers_share_what_is_remembered() -> None:
    """The memo knows containers by place: each pod hears its own names."""
    world = World(*(registered(f"n{n}", f"c{n}", mem_mib=900) for n in range(3)))
    board = PendingBoard(backends=PLAIN_ONLY, scheduler_name="")
    for name, second in (("p", "serve"), ("q", "answer")):
        first = asking(mem_mib=100, name="load")
        board.decided(world.filter(pod_of(first, asking(mem_mib=2000, name=second), name=name)))
    assert [stop.container for pod in board.waiting() for stop in pod.stops] == ["serve", "answer"]
    assert world.scheduler.work.misses == 1


def test_a_pod_that_is_placed_at_last_has_none() -> None:
    world = World(registered("n1", "c1", mem_mib=900), registered("n2", "c2", mem_mib=900))
    board = PendingBoard(backends=PLAIN_ONLY, scheduler_name="")
    pod = load_and_serve(500, 500)
    board.decided(world.filter(pod))
    world.register(registered("n1", "c1", mem_mib=1000))
    board.decided(world.filter(pod))
    (found,) = board.waiting()
    assert (found.placed_on, found.stops) == ("n1", ())
