"""Which cards each node has: what it advertises, what goes and what comes back (R-4 to R-20)."""

import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.types import Node, VendorKey
from tests.devices.nvidia import cards as nvidia
from tests.engine.passes import N1, Passes, handshaken
from tests.engine.world import REGISTER, registered
from tests.factories import make_node


def test_a_pass_registers_what_nodes_advertise() -> None:
    passes = Passes(registered("n1", "a", "b"), make_node("bare"))
    passes.run()
    assert passes.cards() == ["a", "b"]
    assert passes.state.registered() == ("n1",)
    assert passes.registrar.report.nodes == 2


def test_the_overview_is_the_state_at_the_end_of_the_pass() -> None:
    """R-17, R-18, M06."""
    passes = Passes(registered("n1", "a"))
    passes.run()
    assert list(passes.state.overview) == ["n1"]


def test_r_19_one_bad_node_does_not_keep_the_others_out(caplog: pytest.LogCaptureFixture) -> None:
    passes = Passes(registered("n1", "a"), registered("n2", "b"), registered("n3", "c"))
    passes.writer.unreadable.add("n2")
    passes.annotate("n3", register="garbage")
    passes.run()
    assert passes.cards("n1") == ["a"]
    assert "nodes not read for handshake nodes=1 first=n2" in caplog.text


def test_an_api_server_that_gives_no_node_is_one_log_line(caplog: pytest.LogCaptureFixture) -> None:
    passes = Passes(*(registered(f"n{n}", f"a{n}") for n in range(30)))
    passes.writer.unreadable.update(f"n{n}" for n in range(30))
    passes.writer.why = "connection refused"
    passes.run()
    lines = [record.getMessage() for record in caplog.records if "handshake" in record.getMessage()]
    assert lines == ["nodes not read for handshake nodes=30 first=n0 error=connection refused"]


def test_n06_an_explicit_empty_list_takes_the_vendor_s_cards_away() -> None:
    """R-12, VA-7, VB-23: no clean-up, no problem told."""
    passes = Passes(handshaken("Reported_x", "a"))
    passes.run()
    passes.annotate(register="[]", handshake="Reported_y")
    passes.run()
    assert passes.cards() == []
    assert passes.events.told == []


@pytest.mark.parametrize(
    "text", ["garbage", "[null]", '[{"id":1}]', '{"id":"a"}', '[{"id":"a","count":1e999}]']
)
def test_q_50_f13_malformed_text_is_told_once_and_the_loop_goes_on(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R-11, VB-23: what was registered stays; node, vendor and reason in Event, log line and problems."""
    passes = Passes(handshaken("Reported_x", "a"), registered("n2", "b"))
    passes.run()
    passes.annotate(register=text, handshake="Reported_y")
    for _ in range(3):
        passes.run(after=15)
    assert passes.cards() == ["a"]
    assert passes.cards("n2") == ["b"]
    (event,) = passes.events.told
    assert event[:2] == ("Warning", "RegistrationFailed")
    assert passes.events.about == ["n1"]
    assert passes.registrar.problems[N1].startswith("Plain: ")
    assert caplog.text.count("registration skipped node=n1 vendor=Plain") == 1


def test_a_problem_that_is_mended_is_no_problem() -> None:
    passes = Passes(handshaken("Reported_x", "a"))
    passes.annotate(register="garbage")
    passes.run()
    passes.annotate(register=registered("n1", "a").annotations[REGISTER], handshake="Reported_y")
    passes.run()
    assert passes.registrar.problems == {}
    assert passes.cards() == ["a"]


def test_only_nodes_with_all_labels_are_registered() -> None:
    """R-4."""
    passes = Passes(
        registered("n1", "a", labels={"gpu": "on", "zone": "b"}),
        registered("n2", "b", labels={"gpu": "on"}),
        selector={"gpu": "on", "zone": "b"},
    )
    passes.run()
    assert passes.state.registered() == ("n1",)


def test_q_36_a_node_that_leaves_the_selector_leaves_the_cache_and_the_overview() -> None:
    passes = Passes(registered("n1", "a", labels={"gpu": "on"}), selector={"gpu": "on"})
    passes.run()
    passes.nodes.change("n1", labels={})
    passes.run()
    assert passes.state.registered() == ()
    assert dict(passes.state.overview) == {}


def test_q_03_a_change_during_a_pass_is_not_overwritten_by_what_the_pass_saw() -> None:
    """A long pass works on older objects; the watch has told of a cordon meanwhile."""
    passes = Passes(handshaken("Reported_x", "a"))

    def cordon() -> None:
        passes.annotate(**{"hami.io/device-cordon": "a"})
        passes.state.refresh_node(passes.nodes.seen[N1])

    passes.writer.read = cordon
    passes.run()
    assert "hami.io/device-cordon" in passes.state.everything()[N1].node.annotations


def test_a_node_deleted_during_a_pass_is_not_registered_by_it() -> None:
    passes = Passes(registered("n1", "a"))

    def delete() -> None:
        del passes.nodes.seen[N1]
        passes.registrar.node_gone(N1)

    passes.writer.read = delete
    passes.run()
    assert passes.state.registered() == ()
    assert passes.writer.patches == []


def test_nobody_waits_for_the_state_while_a_pass_waits_for_the_api_server() -> None:
    """R-2, Q-41: the reference holds its lock for the whole pass."""
    passes = Passes(registered("n1", "a"))
    waits: list[bool] = []

    def read_state() -> None:
        reader = threading.Thread(target=passes.state.everything)
        reader.start()
        reader.join(5)
        waits.append(reader.is_alive())

    passes.writer.read = read_state
    passes.run()
    assert waits == [False]


NVIDIA_ONLY: Mapping[VendorKey, DeviceBackend] = {nvidia.NVIDIA.vendor_key: nvidia.NVIDIA}


def gpu_node(name: str, *ids: str) -> Node:
    cards: list[dict[str, Any]] = [
        {"id": id, "count": 10, "devmem": 1000, "devcore": 100, "type": "NVIDIA-X", "health": True}
        for id in ids
    ]
    return make_node(
        name,
        annotations={
            "hami.io/node-nvidia-register": json.dumps(cards),
            "hami.io/node-handshake": "Requesting",
        },
        allocatable={nvidia.GPU: str(len(ids) * 10)},
    )


def test_n10_the_count_is_remembered_for_each_node() -> None:
    """R-7, NV-10: two nodes of different size do not make each other look changed."""
    passes = Passes(gpu_node("n1", "a"), gpu_node("n2", "b", "c"), backends=NVIDIA_ONLY)
    for _ in range(3):
        passes.run(after=15)
    revision = passes.state.take_changes().revision
    passes.run(after=15)
    assert passes.state.take_changes().revision == revision
    assert passes.cards("n2") == ["b", "c"]


def test_f30_a_changed_register_text_replaces_the_inventory() -> None:
    """R-13, VB-23."""
    passes = Passes(gpu_node("n1", "a", "b"), backends=NVIDIA_ONLY)
    passes.run()
    passes.nodes.seen[N1] = gpu_node("n1", "b")
    passes.run(after=15)
    assert passes.cards() == ["b"]
