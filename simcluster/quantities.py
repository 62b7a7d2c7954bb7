"""Kubernetes quantities: exact values, and the canonical text an API server writes (VB-6, VB-7)."""

import math
import re
from fractions import Fraction

from simcluster.objects import Json

_FORM = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?")
_BINARY = {suffix: 1024**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL_POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIX_OF_POWER = {power: suffix for suffix, power in _DECIMAL_POWERS.items()}


def parse(text: str) -> tuple[Fraction, str]:
    """Return (value, suffix); ValueError when the text is no quantity."""
    match = _FORM.fullmatch(text)
    if not match:
        raise ValueError(f"quantities must match the regular expression '{_FORM.pattern}'")
    sign, digits, suffix = match[1], match[2], match[3] or ""
    value = Fraction(digits if digits[-1] != "." else digits[:-1])
    value = -value if sign == "-" else value
    if suffix in _BINARY:
        return value * _BINARY[suffix], suffix
    power = _DECIMAL_POWERS[suffix] if suffix in _DECIMAL_POWERS else int(suffix[1:])
    return value * Fraction(10) ** power, suffix


def value_of(text: object) -> Fraction:
    """Return the exact value of a quantity as it stands in JSON (text or number)."""
    return parse(str(text))[0]


def canonical(text: object) -> str:
    """Return ``2`` for ``2000m``, ``16Gi`` for ``16.0Gi``, ``1536`` for ``1.5Ki``, ``100k`` for 100000."""
    value, suffix = parse(str(text))
    value = _rounded_to_nano(value)
    if suffix in _BINARY:
        return _binary(value) if abs(value) >= 1024 and value.denominator == 1 else _decimal(value)
    if suffix[:1] in {"e", "E"} and suffix != "E":
        return _exponent(value)
    return _decimal(value)


def canonicalise(lists: Json) -> None:
    """Rewrite a ResourceList's values in place."""
    for name, text in lists.items():
        lists[name] = canonical(text)


def _rounded_to_nano(value: Fraction) -> Fraction:
    """Return value with nine decimals, rounded away from zero."""
    scaled = value * 10**9
    return Fraction(math.ceil(scaled) if value > 0 else math.floor(scaled), 10**9)


def _binary(value: Fraction) -> str:
    number, power = int(value), 0
    while number and number % 1024 == 0 and power < len(_BINARY):
        number, power = number // 1024, power + 1
    return f"{number}{['', *_BINARY][power]}"


def _decimal(value: Fraction) -> str:
    mantissa, power = _mantissa(value)
    return f"{mantissa}{_SUFFIX_OF_POWER[power]}"


def _exponent(value: Fraction) -> str:
    mantissa, power = _mantissa(value)
    return f"{mantissa}e{power}" if power else str(mantissa)


def _mantissa(value: Fraction) -> tuple[int, int]:
    """Return (integer, power of ten), the power the largest multiple of three that leaves no fraction."""
    power = -9
    number = int(value * 10**9)
    while number and number % 1000 == 0 and power < 18:
        number, power = number // 1000, power + 3
    return number, power if number else 0
