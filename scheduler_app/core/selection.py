"""Use and no-use lists in pod annotations (P-15, P-16): which cards a pod wants, and which it does not."""

from collections.abc import Mapping


def accepts_uuid(annotations: Mapping[str, str], card: str, *, use: str, nouse: str) -> bool:
    """Compare ids exactly; a blank list is no constraint, and both lists apply (P-15, VB-16)."""
    if not annotations:
        return True
    wanted = annotations.get(use, "").strip()
    if wanted and card not in _items(wanted):
        return False
    unwanted = annotations.get(nouse, "").strip()
    return not unwanted or card not in _items(unwanted)


def accepts_type(annotations: Mapping[str, str], model: str, *, use: str, nouse: str) -> bool:
    """Match items as parts of the model, ignoring case; empty items match nothing (P-16, VB-17)."""
    if not annotations:
        return True
    wanted = annotations.get(use, "").strip()
    if wanted and not _has_part(wanted, model):
        return False
    unwanted = annotations.get(nouse, "").strip()
    return not unwanted or not _has_part(unwanted, model)


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


def _has_part(text: str, model: str) -> bool:
    upper = model.upper()
    return any(item and item.upper() in upper for item in _items(text))
