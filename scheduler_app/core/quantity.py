"""Kubernetes quantities as integers, in the two readings the vendors use (VB-5 to VB-7)."""

import re
from collections.abc import Mapping
from decimal import ROUND_UP, Decimal, localcontext

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
_FORM = re.compile(r"([+-]?)([0-9]*)(?:(\.)([0-9]*))?(?:([eE][+-]?[0-9]+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_DIGITS = {"Ki": 11, "Mi": 8, "Gi": 5, "Ti": 2, "Pi": 0, "Ei": 0}  # longest form read exactly
_EXACT_DIGITS = 18


def exact(text: str) -> int | None:
    """Return the integer that ``text`` spells, or None where the reference has no exact reading (VB-6)."""
    if text.isascii() and text.isdigit() and len(text) <= _EXACT_DIGITS:
        return int(text)
    parts = _split(text)
    if parts is None:
        return None
    sign, whole, fraction, exponent, suffix = parts
    digits = whole.lstrip("0")
    if suffix in _BINARY:
        if fraction is not None or len(digits) > _BINARY_DIGITS[suffix]:
            return None
        return sign * (int(digits or "0") << _BINARY[suffix])
    places = fraction or ""
    scale = exponent - len(places)
    if len(digits) + len(places) > _EXACT_DIGITS or scale < 0:
        return None
    value = sign * int((digits + places) or "0") * 10**scale
    return value if INT64_MIN <= value <= INT64_MAX else None


def rounded(text: str) -> int:
    """Return ``text`` as an integer rounded away from zero; 0 when it is no quantity.

    What 64 bits do not hold is the most they do, as in the API server.
    """
    parts = _split(text)
    if parts is None:
        return 0
    sign, whole, fraction, exponent, suffix = parts
    with localcontext() as context:
        context.prec = 100
        value = Decimal(f"{whole or '0'}.{fraction or '0'}")
        value *= Decimal(2) ** _BINARY[suffix] if suffix in _BINARY else Decimal(10) ** exponent
        return sign * int(min(value.to_integral_value(ROUND_UP), Decimal(INT64_MAX)))


def int32(text: str) -> int | None:
    """Return the exact reading where 32 bits hold it; what the reference would wrap around is no amount."""
    value = exact(text)
    return value if value is not None and -INT32_MAX - 1 <= value <= INT32_MAX else None


def scaled(text: str, factor: int = 1) -> int | None:
    """Return the exact reading times a vendor's unit; None without one, when negative, or beyond 32 bits.

    Factors below 2 scale nothing.
    """
    value = exact(text)
    if value is None or value < 0:
        return None
    product = value * max(factor, 1)
    return product if product <= INT32_MAX else None


def divided(value: int, by: int) -> int:
    """Divide toward zero, as the reference does; Python's ``//`` rounds down (devices-a.md, preface)."""
    return -(-value // by) if (value < 0) != (by < 0) else value // by


def is_valid(text: str) -> bool:
    return _split(text) is not None


def lookup(name: str, limits: Mapping[str, str], requests: Mapping[str, str]) -> str | None:
    """Return the text of a resource: limits, and requests only where limits lack the key (VA-6, VB-8)."""
    if not name:
        return None
    found = limits.get(name)
    return requests.get(name) if found is None else found


def canonical(value: int) -> str:
    """Return an integer as the API server writes it: ``32768``, ``100k`` (VB-7)."""
    for suffix in ("E", "P", "T", "G", "M", "k"):
        unit = 10 ** _DECIMAL[suffix]
        if value and value % unit == 0:
            return f"{value // unit}{suffix}"
    return str(value)


def has_unit(text: str) -> bool:
    """Say whether the canonical text of a whole amount has a letter in it, as ``16Gi`` has (MXS-6).

    Parity: 1000 becomes ``1k`` and so has one, 1500 has none; but a text whose digits and power of ten are
    canonical already stays as written, so that ``2e0`` and ``1.500k`` have one.
    """
    parts = _split(text)
    if parts is None:
        return False
    _, whole, fraction, power, suffix = parts
    places = fraction or ""
    digits = (whole.lstrip("0") or "0") + places
    if not digits.strip("0"):
        return False
    if suffix or ((power - len(places)) % 3 == 0 and digits[0] != "0" and not digits.endswith("000")):
        return any(map(str.isalpha, text))
    value = exact(text)
    return value is not None and value != 0 and value % 1000 == 0


def _split(text: str) -> tuple[int, str, str | None, int, str] | None:
    """Return sign, digits, fraction digits (None when no point is written), power of ten, binary suffix.

    Parity: a suffix or a sign without digits, ``Mi`` or ``+``, is a zero.
    """
    match = _FORM.fullmatch(text)
    if match is None or not text:
        return None
    sign, whole, point, places, exponent, suffix = match.groups()
    fraction = places if point and places else None
    power = int(exponent[1:]) if exponent else _DECIMAL.get(suffix or "", 0)
    if abs(power) > 400:  # beyond any int64; keeps hostile exponents from costing memory
        return None
    return (-1 if sign == "-" else 1), whole, fraction, power, suffix if suffix in _BINARY else ""
