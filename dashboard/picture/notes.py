"""What is worth knowing about a request beside its verdict: surprises that users report again and again."""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.picture import stops
from dashboard.picture.model import Picture
from scheduler_app.core import selection
from scheduler_app.core.publication import AskView, PendingPod

SHOWN_MODELS = 12
_USE, _NOUSE = "use", "nouse"


def notes(pod: PendingPod, picture: Picture) -> list[str]:
    """Return sentences, each once: which container fails, then the containers in their order."""
    found = [stopped] if (stopped := stops.sentence(pod)) else []
    found += [sentence for ask in pod.asks for sentence in _of_ask(ask, picture)]
    if pod.priority > 0 and pod.groups:
        text = _("Shares of GPUs are not preempted: its priority of {priority} does not help.")
        found.append(text.format(priority=pod.priority))
    return list(dict.fromkeys(found))


def _of_ask(ask: AskView, picture: Picture) -> Iterator[str]:
    if ask.is_whole:
        text = _("Container {name}: whole card requested, no memory given. A count alone asks for all of it.")
        yield text.format(name=ask.container)
    if ask.models or ask.no_models:
        yield _matched(ask, picture)


def _matched(ask: AskView, picture: Picture) -> str:
    """Say which models the lists leave: items match parts of a model, so H20 matches H200 too (F22, P-16)."""
    found = matching_models(ask, picture)
    wanted = ", ".join(filter(None, (ask.models, f"!({ask.no_models})" if ask.no_models else "")))
    if not found:
        text = _("No {vendor} model of this cluster matches {wanted}.")
        return text.format(vendor=ask.vendor, wanted=wanted)
    text = ngettext(
        "{wanted} matches {n} model: {models}.", "{wanted} matches {n} models: {models}.", len(found)
    )
    listed = ", ".join(found[:SHOWN_MODELS]) + (", …" if len(found) > SHOWN_MODELS else "")
    return text.format(wanted=wanted, n=len(found), models=listed)


def matching_models(ask: AskView, picture: Picture) -> list[str]:
    """Return the models of this kind that the lists leave, as fit reads them (F-29, P-16)."""
    lists = {_USE: ask.models, _NOUSE: ask.no_models}
    word = ask.vendor.lower()
    return sorted(
        model
        for model in picture.sums
        if word in model.lower() and selection.accepts_type(lists, model, use=_USE, nouse=_NOUSE)
    )


def largest_mib(vendor: str, picture: Picture) -> int:
    """Return the memory of the largest GPU of a kind; 0 where there is none, or nobody counts it."""
    word = vendor.lower()
    cards = (card for node in picture.nodes.values() for card in node.cards if word in card.model.lower())
    return max((card.mem_mib[1] for card in cards if card.mem_mib), default=0)


def most_on_a_node(vendor: str, picture: Picture) -> int:
    """Return the largest number of GPUs of a kind on one node."""
    word = vendor.lower()
    counts = (
        sum(sums.gpus for model, sums in digest.models.items() if word in model.lower())
        for digest in picture.digests.values()
    )
    return max(counts, default=0)
