"""What a node says of its cards: the text under a register annotation, or plain amounts in its capacity.

Each vendor's ``node_cards`` starts with one of these. The words of the errors are the reference's (VA-7,
VB-20, VC-2). ``EmptyRegistrationError`` is kept apart from the rest, because a node that says "none" loses
the vendor at once, while a text that cannot be read changes nothing.
"""

from collections.abc import Callable

from scheduler_app.core import codec, quantity
from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from scheduler_app.core.types import Card, Node, VendorKey

NO_GPU = "no gpu found on node"
MOST_CARDS = 4096  # a node with more is a typing error, and listing them would take the scheduler's memory

Decoder = Callable[[str, VendorKey], tuple[Card, ...]]


def from_json_annotation(node: Node, *, key: str, vendor: VendorKey, empty: str = NO_GPU) -> tuple[Card, ...]:
    """Return the cards of a JSON register annotation, at least one (VA-7, P-4).

    Raises:
        EmptyRegistrationError: the annotation is ``[]`` or ``null``; its text is ``empty``.
        CodecError: there is no such annotation, or it cannot be read.
    """
    return _decoded(node, key, vendor, codec.decode_json, empty)


def from_csv_annotation(node: Node, *, key: str, vendor: VendorKey, empty: str = NO_GPU) -> tuple[Card, ...]:
    """Return the cards of a register annotation in segments, at least one (VB-20, P-6).

    Raises:
        EmptyRegistrationError: the annotation has separators and nothing between them; its text is ``empty``.
        CodecError: there is no such annotation, or it cannot be read.
    """
    return _decoded(node, key, vendor, codec.decode_csv, empty)


def annotation(node: Node, key: str) -> str:
    """Return the text under ``key``, which may be empty.

    Raises:
        CodecError: the node has no such annotation.
    """
    text = node.annotations.get(key)
    if text is None:
        raise CodecError(f"annos not found {key}")
    return text


def capacity(node: Node, resource: str) -> int:
    """Return a node's capacity, read exactly; 0 when absent or without an exact reading (VC-2)."""
    return quantity.exact(node.capacity.get(resource, "0")) or 0


def required_capacity(node: Node, resource: str) -> int:
    """Return a node's capacity, not 0; a negative one is the caller's "no cards" (MT-3, NEU-2, KL-3).

    Raises:
        CodecError: there is none.
    """
    amount = capacity(node, resource)
    if amount == 0:
        raise CodecError(f"device not found {resource}")
    return amount


def card_positions(count: int, *, resource: str) -> range:
    """Return 0, 1, … for ``count`` cards, none when it is negative.

    Raises:
        CodecError: more cards than a node can have.
    """
    if count > MOST_CARDS:
        raise CodecError(f"capacity {resource}: {count} cards, expected at most {MOST_CARDS}")
    return range(max(count, 0))


def _decoded(node: Node, key: str, vendor: VendorKey, decode: Decoder, empty: str) -> tuple[Card, ...]:
    cards = decode(annotation(node, key), vendor)
    if not cards:
        raise EmptyRegistrationError(empty)
    return cards
