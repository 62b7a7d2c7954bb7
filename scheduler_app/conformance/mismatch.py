"""How a case ends early."""


class Mismatch(Exception):  # noqa: N818  (ends a case at its first difference; not a fault of the program)
    """Carries the first difference of a case, and the step at which it showed."""
