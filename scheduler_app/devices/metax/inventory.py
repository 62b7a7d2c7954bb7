"""The node annotation in which Metax says what shared cards there are (MXS-3)."""

from typing import Any

from scheduler_app.core import codec, registration_text
from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from scheduler_app.core.types import Card, CardId, Node, VendorKey

REGISTER = "metax-tech.com/node-gpu-devices"
QOS = "QosPolicy"
LINK_ZONE = "LinkZone"
_UNUSED_NUMBERS = ("availabledevcount", "availablecompute", "availablevram")


def read(node: Node, *, vendor: VendorKey) -> tuple[Card, ...]:
    """Return the cards in the annotation's order, which gives them their index.

    Raises:
        EmptyRegistrationError: the list is empty or null.
        CodecError: there is no annotation, or a member of it has another type than documented.
    """
    data = codec.load_json(registration_text.annotation(node, REGISTER))
    if data is None or data == []:
        raise EmptyRegistrationError("no sdevice found on node")
    if not isinstance(data, list):
        raise CodecError("expected an array of devices")
    return tuple(_card(item, vendor, index) for index, item in enumerate(data))


def _card(item: Any, vendor: VendorKey, index: int) -> Card:
    """Read one element; members that nobody uses must still have their type, as the reference wants it."""
    at = f"[{index}]"
    members = codec.fold(item, at)
    for name in _UNUSED_NUMBERS:
        codec.whole(members, name, at)
    codec.member(members, "bdf", str, at)
    return Card(
        CardId(codec.member(members, "uuid", str, at)),
        vendor,
        vendor,
        index,
        shares=codec.whole(members, "totaldevcount", at),
        mem_mib=codec.whole(members, "totalvram", at),
        cores=codec.whole(members, "totalcompute", at),
        numa=codec.whole(members, "numa", at),
        healthy=codec.member(members, "healthy", bool, at),
        custom={
            QOS: codec.member(members, "qospolicy", str, at),
            "Model": codec.member(members, "model", str, at),
            LINK_ZONE: codec.whole(members, "linkzone", at),
        },
    )
