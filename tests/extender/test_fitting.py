"""Requests that users report as misunderstood, through the extender's door (F01 to F39, W14)."""

import json
from typing import Any

from tests.extender.door import GPU, MEM, Door, gpu_node, pod_json, register_text
from tests.factories import make_node

ALLOCATED = "hami.io/vgpu-devices-allocated"


def pod_of(*asked: dict[str, int], name: str = "p") -> dict[str, Any]:
    """Return a pod with a container for each mapping of limits."""
    pod = pod_json(name)
    pod["spec"]["containers"] = [
        {"name": f"c{n}", "resources": {"limits": {key: str(value) for key, value in limits.items()}}}
        for n, limits in enumerate(asked)
    ]
    return pod


def place(door: Door, pod: dict[str, Any], node: str = "gpus") -> str:
    """Return the allocation that is written, or why the node refuses."""
    answer = door.post("/filter", {"Pod": pod, "NodeNames": [node]}).json()
    if answer["FailedNodes"]:
        return str(answer["FailedNodes"][node])
    assert answer["NodeNames"] == [node]
    return str(door.writer.patches[-1].annotations[ALLOCATED])


def test_f01_one_card_of_ten_shares_is_one_card(door: Door) -> None:
    door.register(gpu_node("gpus", "a"))
    assert place(door, pod_of({GPU: 2, MEM: 1000})) == "NodeInsufficientDevice"
    assert place(door, pod_of({GPU: 1, MEM: 1000})) == "a,NVIDIA,1000,0:;"


def test_w14_a_bare_count_wants_a_card_to_the_last_mebibyte(door: Door) -> None:
    """NV-24."""
    door.register(gpu_node("gpus", "a"))
    assert place(door, pod_of({GPU: 1, MEM: 1}, name="tiny")) == "a,NVIDIA,1,0:;"
    assert place(door, pod_of({GPU: 1})) == "1/1 CardInsufficientMemory"


def test_f28_two_containers_share_the_one_card_of_a_node(door: Door) -> None:
    door.register(gpu_node("gpus", "a", mem_mib=12288))
    found = place(door, pod_of({GPU: 1, MEM: 2000}, {GPU: 1, MEM: 3000}))
    assert found == "a,NVIDIA,2000,0:;a,NVIDIA,3000,0:;"


def mixed_node(door: Door) -> None:
    """Register a card of 10 GiB and one of 20 GiB on one node."""
    cards = json.loads(register_text("small", mem_mib=10240)) + json.loads(
        register_text("large", mem_mib=20480)
    )
    door.register(make_node("gpus", annotations={"hami.io/node-nvidia-register": json.dumps(cards)}))


def test_f31_each_container_is_matched_with_each_card(door: Door) -> None:
    """Neither the mean of the cards nor the pod's sum is compared with a request."""
    mixed_node(door)
    found = place(door, pod_of({GPU: 1, MEM: 15000}, {GPU: 1, MEM: 9000}))
    assert found == "large,NVIDIA,15000,0:;small,NVIDIA,9000,0:;"


def test_f31_two_containers_that_only_the_larger_card_could_hold(door: Door) -> None:
    mixed_node(door)
    refused = place(door, pod_of({GPU: 1, MEM: 12000}, {GPU: 1, MEM: 12000}))
    assert refused == "2/2 CardInsufficientMemory"


def test_f39_four_halves_of_eight_half_free_cards_are_given(door: Door) -> None:
    """Amounts are for each card: 4 times 40960 MiB, where each of the eight has 40960 free."""
    ids = [f"g{n}" for n in range(8)]
    door.register(gpu_node("gpus", *ids, mem_mib=81920))
    place(door, pod_of({GPU: 8, MEM: 40960}, name="first"))
    found = place(door, pod_of({GPU: 4, MEM: 40960}))
    devices = found.rstrip(":;").split(":")
    assert len({device.partition(",")[0] for device in devices}) == 4
    assert all(device.endswith(",NVIDIA,40960,0") for device in devices)
    assert place(door, pod_of({GPU: 4, MEM: 40961}, name="more")) == "8/8 CardInsufficientMemory"
