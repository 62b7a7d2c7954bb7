"""The value of a Kubernetes quantity, read apart from the product: what its readings are held to."""

import re
from decimal import ROUND_UP, Decimal, localcontext

FORM = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?")
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
SMALLEST = Decimal("1e-9")
LARGEST = 2**63 - 1


def amount(text: str) -> Decimal | None:
    """Return a quantity's value, rounded up to a billionth, or None when it is none."""
    match = FORM.fullmatch(text) if text.isascii() else None
    if match is None or text in ("", "+", "-", "."):
        return None
    sign, whole, places, _, exponent, suffix = match.groups()
    with localcontext() as context:
        context.prec = 120
        value = Decimal(f"{whole or 0}.{places or 0}")
        if suffix in BINARY:
            value *= Decimal(1024) ** BINARY[suffix]
        else:
            value = value.scaleb(int(exponent) if exponent else DECIMAL[suffix or ""])
        value = value.quantize(SMALLEST, ROUND_UP)
        return -value if sign == "-" else value
