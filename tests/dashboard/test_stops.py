"""The page of a waiting pod names the container that does not fit (console.md 6.2)."""

from typing import Any

import pytest
from django.test import Client

from scheduler_app.core import reasons
from scheduler_app.core.publication import AskView, ReasonGroup, StopView
from tests.dashboard.test_why import node_of, page, publish, why

MEMORY = "8/8 CardInsufficientMemory"
SERVE = StopView("serve", 1, 2, ("n1", "n2"))
LOAD = StopView("load", 0, 30, ("n3", "n4", "n5", "n6", "n7"))


def ask(container: str, mem_mib: int) -> AskView:
    return AskView(container, "NVIDIA", 1, mem_mib, 0, 0)


def publish_pod(*stops: StopView, unregistered: int = 0, **pod: Any) -> None:
    groups = [ReasonGroup(MEMORY, stop.nodes, stop.examples, (stop.container,)) for stop in stops]
    if unregistered:
        groups.append(ReasonGroup(reasons.NODE_UNREGISTERED, unregistered, ("x1",)))
    values = {"asks": (ask("load", 40960), ask("serve", 8192)), "stops": stops, **pod}
    publish(node_of("n1", "A100"), groups=tuple(groups), **values)


def copied(client: Client) -> str:
    return client.get("/api/v1/pods/vision/train-7/why?format=text").content.decode()


@pytest.mark.parametrize(
    ("stops", "unregistered", "told"),
    [
        ([SERVE], 0, "All 2 nodes fail at container serve."),
        ([StopView("serve", 1, 1, ("n1",))], 0, "1 node was asked and fails at container serve."),
        ([SERVE], 3, "2 nodes fail at container serve, the others have no GPU registered."),
        (
            [SERVE, LOAD],
            0,
            "Nearest: 2 nodes (n1, n2), which fail at container serve; others fail before it: 30 at load.",
        ),
        (
            [StopView("c", 2, 1, ("n9",)), StopView("b", 1, 4, ("n1",)), LOAD],
            1,
            "Nearest: 1 node (n9), which fails at container c; others fail before it: 4 at b, 30 at load.",
        ),
        (
            [StopView("c", 2, 9, ("a", "b", "d", "e", "f")), SERVE],
            0,
            "Nearest: 9 nodes (a, b, d, …), which fail at container c; others fail before it: 2 at serve.",
        ),
    ],
)
def test_page_rest_and_text_name_the_container(
    alice: Client, stops: list[StopView], unregistered: int, told: str
) -> None:
    publish_pod(*stops, unregistered=unregistered)
    assert f"<li>{told}</li>" in page(alice)
    assert why(alice)["notes"][0] == told
    assert f"  {told}\n" in copied(alice)


def test_the_verdict_is_about_the_container_that_fails(alice: Client) -> None:
    """Not about the one that asks for most: that one fits."""
    publish_pod(SERVE)
    verdict = why(alice)["verdict"]
    assert verdict["text"] == (
        "Container serve, after those before it: No node has 1 NVIDIA GPU with 8.0 GiB free. No GPU has"
        " as much free memory as the pod asks."
    )
    assert verdict["args"]["container"] == "serve"
    publish_pod(LOAD)
    assert why(alice)["verdict"]["text"] == (
        "Container load: No node has 1 NVIDIA GPU with 40.0 GiB free. No GPU has as much free memory as the"
        " pod asks."
    )


def test_where_nodes_fail_at_different_containers_the_verdict_says_what_is_true_of_all(alice: Client) -> None:
    publish_pod(SERVE, LOAD)
    verdict = why(alice)["verdict"]
    assert verdict["text"].startswith("No node has room for the 2 containers of this pod that ask for GPUs. ")
    assert (verdict["key"], verdict["args"]["containers"]) == ("why.containers", 2)


def test_rest_has_numbers_and_names(alice: Client) -> None:
    publish_pod(SERVE, LOAD)
    answer = why(alice)
    assert answer["stops"] == [
        {"container": "serve", "fitted_before": 1, "nodes": 2, "examples": ["n1", "n2"]},
        {"container": "load", "fitted_before": 0, "nodes": 30, "examples": ["n3", "n4", "n5", "n6", "n7"]},
    ]
    assert [group["containers"] for group in answer["groups"]] == [["serve"], ["load"]]


def test_each_group_of_refusals_says_at_which_container(alice: Client) -> None:
    publish_pod(SERVE, LOAD, unregistered=1)
    assert page(alice).count("at container <strong>") == 2
    assert "at container <strong>serve</strong>" in page(alice)
    assert "at serve   e.g. n1\n" in copied(alice)


def test_a_pod_that_asks_with_one_container_hears_nothing_of_containers(alice: Client) -> None:
    publish(node_of("n1", "A100"), asks=(ask("main", 40960),))
    assert "container" not in why(alice)["verdict"]["text"].lower()
    assert (why(alice)["stops"], why(alice)["notes"]) == ([], [])
    assert "at container" not in page(alice)
