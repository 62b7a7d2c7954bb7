"""What a node says of its NVIDIA cards, and whether it is believed (NV-7 to NV-12)."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from scheduler_app.core.backend import Health
from scheduler_app.core.errors import CodecError
from scheduler_app.core.types import CardUsage, Node
from scheduler_app.devices.nvidia.backend import NvidiaBackend
from tests.devices.nvidia.cards import GPU, NVIDIA, ask, config, fit
from tests.factories import make_node

REGISTER, SCORES, HANDSHAKE = (
    "hami.io/node-nvidia-register",
    "hami.io/node-nvidia-score",
    "hami.io/node-handshake",
)
TWO_CARDS = '[{"id":"a","count":10,"type":"NVIDIA-A100","health":true},{"id":"b"}]'
NOW = datetime(2026, 1, 2, 15, 4, 5)  # noqa: DTZ001  (handshake stamps carry no zone)
FRESH, EXPIRED = (f"Requesting_{NOW - timedelta(seconds=age)}" for age in (1, 61))


def test_pair_scores_belong_to_their_card() -> None:
    """NVP-5, NV-8, NV-E32: the first entry of a card counts, entries of strangers do not."""
    scores = '[{"uuid":"a","score":{"b":7}},{"uuid":"a","score":{"b":9}},{"uuid":"z","score":{}}]'
    a, b = NVIDIA.node_cards(make_node(annotations={REGISTER: TWO_CARDS, SCORES: scores}))
    assert (a.link_scores, b.link_scores) == ({"b": 7}, {})


def test_cards_keep_the_order_of_the_annotation() -> None:
    """NVP-1: the plugin shuffles them at each scan; that order breaks ties, not the index."""
    cards = NVIDIA.node_cards(make_node(annotations={REGISTER: '[{"id":"b","index":1},{"id":"a"}]'}))
    assert [(card.id, card.index) for card in cards] == [("b", 1), ("a", 0)]


def test_null_is_no_pair_scores() -> None:
    """NV-8."""
    cards = NVIDIA.node_cards(make_node(annotations={REGISTER: TWO_CARDS, SCORES: "null"}))
    assert [card.link_scores for card in cards] == [{}, {}]


@pytest.mark.parametrize(
    "scores", ["bad", "", "{}", '[{"uuid":"a","score":{"x":1.5}}]', '[{"uuid":1}]', "[1]"]
)
def test_broken_pair_scores_fail_the_whole_query(scores: str) -> None:
    """NV-E31."""
    with pytest.raises(CodecError):
        NVIDIA.node_cards(make_node(annotations={REGISTER: TWO_CARDS, SCORES: scores}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "annos not found hami.io/node-nvidia-register"),
        ("[]", "no gpu found on node"),
        ("null", "no gpu found on node"),
    ],
)
def test_a_node_without_cards_says_why(text: str | None, message: str) -> None:
    """NV-E30."""
    annotations = {} if text is None else {REGISTER: text}
    with pytest.raises(CodecError, match=f"^{message}$"):
        NVIDIA.node_cards(make_node(annotations=annotations))


SHARED_FILE = NvidiaBackend(
    config(
        device_split_count=10,
        device_memory_scaling=1.0,
        device_core_scaling=1.0,
        pre_configured_device_memory=9000,
        enable_numa_topology=False,
    )
)


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        (
            {"count": 10, "devmem": 40960, "devcore": 100, "mode": "hami-core"},
            (10, 40960, 100, 0, "hami-core"),
        ),
        ({"count": 5, "devmem": 102400, "devcore": 150, "mode": "mig"}, (5, 102400, 150, 0, "mig")),
        ({"count": 1, "devmem": 8, "devcore": 100, "numa": 1, "mode": "mps"}, (1, 8, 100, 1, "mps")),
    ],
)
def test_what_a_node_s_plugin_made_of_its_own_settings_is_what_counts(
    registered: dict[str, Any], expected: tuple[int, int, int, int, str]
) -> None:
    """DCF-32, DCF-33: the shared file's counts and scalings are for the plugin, which overrides them by node.

    The first is the chart's sample of a node, the second DCF-E11.
    """
    text = json.dumps([{"id": "a", "type": "NVIDIA-A100", "health": True, **registered}])
    (card,) = SHARED_FILE.node_cards(make_node(annotations={REGISTER: text}))
    assert (card.shares, card.mem_mib, card.cores, card.numa, card.mode) == expected


def test_a_plugin_that_cannot_read_its_nodes_settings_registers_cards_without_a_mode() -> None:
    """DCF-31: an empty mode is shared like ``hami-core``, and passes whatever mode a pod wants (NV-E48)."""
    text = '[{"id":"a","count":2,"devmem":1000,"devcore":100,"type":"NVIDIA-A100","health":true}]'
    (card,) = NVIDIA.node_cards(make_node(annotations={REGISTER: text}))
    assert card.mode == ""
    for mode in ("hami-core", "mig"):
        assert fit([CardUsage.idle(card)], ask(), annotations={"nvidia.com/vgpu-mode": mode}) == (["a"], "")


class Looks:
    """One node, looked at again and again; what the backend remembers goes from one look to the next."""

    def __init__(self) -> None:
        self.memory: object = None

    def look(
        self, *, count: int = 0, handshake: str = "", register: str = TWO_CARDS
    ) -> tuple[bool, bool, bool]:
        annotations = {HANDSHAKE: handshake, REGISTER: register}
        node: Node = make_node(
            annotations={key: text for key, text in annotations.items() if text},
            allocatable={GPU: str(count)},
        )
        health: Health = NVIDIA.health(node, now=NOW, memory=self.memory)
        self.memory = health.memory
        return health.healthy, health.needs_update, health.stamp


def test_a_node_without_capacity_lives_as_long_as_its_handshake() -> None:
    """NV-E33."""
    looks = Looks()
    assert looks.look() == (True, True, True)
    assert looks.look(handshake=FRESH) == (True, False, False)
    assert looks.look(handshake=EXPIRED) == (False, False, False)


def test_new_capacity_is_believed_at_once() -> None:
    """NV-E34."""
    looks = Looks()
    assert looks.look(count=4) == (True, True, True)
    assert looks.look(count=4, handshake=FRESH) == (True, False, False)
    assert looks.look(count=4, handshake=EXPIRED) == (True, False, False)


@pytest.mark.parametrize("register", ["[]", ""])
def test_another_register_text_is_read_once(register: str) -> None:
    """NV-E35: changed or removed."""
    looks = Looks()
    looks.look(count=4)
    assert looks.look(count=4, handshake=EXPIRED, register=register) == (True, True, False)
    assert looks.look(count=4, handshake=EXPIRED, register=register) == (True, False, False)


def test_capacity_that_is_gone_makes_the_vendor_unhealthy() -> None:
    """NV-E36."""
    looks = Looks()
    looks.look(count=4)
    assert looks.look(handshake=EXPIRED) == (False, False, False)
    assert looks.look(handshake=EXPIRED) == (False, False, False)
    assert looks.look() == (True, True, True)


def test_a_plugin_that_overwrites_the_handshake_is_asked_every_time() -> None:
    """NV-E37, NV-11."""
    looks = Looks()
    for _ in range(2):
        assert looks.look(count=4, handshake="Reported_x") == (True, True, True)
    assert looks.look(handshake="Reported_x") == (False, True, True)


def test_half_a_card_counts_as_one() -> None:
    """NV-10: the count is rounded up."""
    node = make_node(allocatable={GPU: "500m"}, annotations={HANDSHAKE: EXPIRED})
    assert NVIDIA.health(node, now=NOW).needs_update


def test_what_is_new_does_not_wait_for_the_stamp() -> None:
    """NV-10, steps 4 and 5: only the generic rule's update depends on a node that can be stamped."""
    fresh = NVIDIA.health(make_node(), now=NOW)
    assert (fresh.needs_update, fresh.update_follows_stamp) == (True, True)
    grown = NVIDIA.health(make_node(allocatable={GPU: "1"}), now=NOW)
    assert (grown.needs_update, grown.update_follows_stamp) == (True, False)
