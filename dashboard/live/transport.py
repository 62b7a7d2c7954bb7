"""A Publication as a message of the channel layer.

Inside one process the value itself goes through; between processes it is JSON, compressed and cut into
pieces, because one message must not hold up the others (console.md 7.1).
"""

import uuid
import zlib
from collections.abc import Mapping
from typing import Any, Self

import msgspec

from scheduler_app.core.publication import Publication

GROUP = "live"
PUBLICATION = "live.publication"
PIECE = "live.piece"
WANT = "live.want"
PIECE_BYTES = 256 * 1024
OPEN_SETS = 8
"""Half-received publications kept; what is older was lost with its sender."""

Message = dict[str, Any]


class Handed:
    """A frozen value on its way through the memory layer, which copies each message for each subscriber."""

    __slots__ = ("publication",)

    def __init__(self, publication: Publication) -> None:
        self.publication = publication

    def __deepcopy__(self, memo: object) -> Self:
        return self


def hand_over(publication: Publication) -> Message:
    """Return the message that carries ``publication`` to this process's own hub."""
    return {"type": PUBLICATION, "handed": Handed(publication)}


def pieces(publication: Publication) -> list[Message]:
    """Return the messages that carry ``publication`` to other processes, ``PIECE_BYTES`` at most each."""
    body = zlib.compress(encode(publication), 1)
    parts = [body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES)]
    key = uuid.uuid4().hex
    return [
        {"type": PIECE, "key": key, "part": number, "parts": len(parts), "body": part}
        for number, part in enumerate(parts)
    ]


class Assembler:
    """Puts pieces together again. A set that misses a piece is forgotten when enough newer ones have come."""

    def __init__(self) -> None:
        self._sets: dict[str, dict[int, bytes]] = {}

    def add(self, message: Mapping[str, Any]) -> Publication | None:
        """Take one message; return the publication that it completes, if it does."""
        if message["type"] == PUBLICATION:
            return message["handed"].publication  # type: ignore[no-any-return]  # the layer's messages are untyped
        parts = self._sets.setdefault(message["key"], {})
        parts[message["part"]] = message["body"]
        if len(parts) < message["parts"]:
            self._forget_oldest()
            return None
        del self._sets[message["key"]]
        return decode(zlib.decompress(b"".join(parts[number] for number in sorted(parts))))

    def _forget_oldest(self) -> None:
        while len(self._sets) > OPEN_SETS:
            del self._sets[next(iter(self._sets))]


def encode(publication: Publication) -> bytes:
    """Return the publication as JSON; dataclasses become objects, tuples arrays."""
    return msgspec.json.encode(publication)


def decode(body: bytes) -> Publication:
    """Return the publication that ``encode`` wrote; sequences come back as lists.

    Raises:
        msgspec.DecodeError: this is no publication, or one of a version that does not agree with ours.
    """
    return _DECODER.decode(body)


_DECODER = msgspec.json.Decoder(Publication)
