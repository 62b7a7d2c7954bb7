"""Single-precision arithmetic: the reference rounds after every operation, so we do (Appendix B)."""

import struct

_SINGLE = struct.Struct("<f")
_pack, _unpack = _SINGLE.pack, _SINGLE.unpack


def f32(value: float) -> float:
    """Round to the nearest float32; the result is exact as a Python float."""
    return _unpack(_pack(value))[0]  # type: ignore[no-any-return]  # struct's tuple is untyped


def bits(value: float) -> str:
    """Return the bit pattern, ``"0x40a80000"``."""
    return f"0x{int.from_bytes(_pack(value), 'little'):08x}"
