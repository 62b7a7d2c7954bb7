"""What a node says of its shared cards. Rules MXS-3, MXS-4, cases MXS-E14, MXS-E15."""

import json
from datetime import datetime

import pytest

from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from tests.devices.metax.cards import REGISTER, SGPU, sgpu_node
from tests.factories import make_node

NOON = datetime(2026, 1, 2, 12, 0)  # noqa: DTZ001  (stamps carry no zone)


def test_a_nodes_cards_are_read_in_order() -> None:
    """MXS-E14."""
    text = json.dumps(
        [
            {
                "uuid": "GPU-1",
                "totalDevCount": 16,
                "totalCompute": 100,
                "totalVRam": 65536,
                "numa": 1,
                "healthy": True,
                "qosPolicy": "fixed-share",
                "linkZone": 2,
            },
            {"UUID": "GPU-2"},
        ]
    )
    first, second = SGPU.node_cards(make_node(annotations={REGISTER: text}))
    assert (first.id, first.index, first.shares, first.cores, first.mem_mib) == ("GPU-1", 0, 16, 100, 65536)
    assert first.custom == {"QosPolicy": "fixed-share", "Model": "", "LinkZone": 2}
    assert (second.id, second.index, second.shares, second.healthy) == ("GPU-2", 1, 0, False)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (None, CodecError, f"annos not found {REGISTER}"),
        ("[]", EmptyRegistrationError, "no sdevice found on node"),
        ("null", EmptyRegistrationError, "no sdevice found on node"),
        ("", CodecError, "not JSON"),
        ("{}", CodecError, "expected an array of devices"),
        ("[null]", CodecError, r"\[0\]: expected an object"),
        ('[{"totalVRam":1.5}]', CodecError, "whole number"),
        ('[{"totalVRam":"5"}]', CodecError, "whole number"),
        ('[{"totalVRam":2147483648}]', CodecError, "out of range"),
        ('[{"availableVRam":"5"}]', CodecError, "whole number"),
        ('[{"bdf":5}]', CodecError, "expected a text"),
    ],
)
def test_a_node_without_cards_says_why(text: str | None, kind: type[CodecError], message: str) -> None:
    """MXS-E15; a null element is an error (Q-50)."""
    node = make_node(annotations={} if text is None else {REGISTER: text})
    with pytest.raises(kind, match=message):
        SGPU.node_cards(node)
    health = SGPU.health(node, now=NOON)
    assert (health.healthy, health.needs_update, health.stamp) == (False, True, False)


def test_a_node_with_cards_is_healthy() -> None:
    """MXS-4."""
    assert SGPU.health(sgpu_node(0), now=NOON).healthy is True
    assert SGPU.cleanup_keys == ()
