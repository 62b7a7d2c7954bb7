"""Why a pod waits.

One verdict, and what led to it (console.md 6.2). Words are made here, once for page and REST.
"""

from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import presenters, wording
from dashboard.picture import causes, notes
from dashboard.picture.model import Picture
from scheduler_app.core import reasons
from scheduler_app.core.publication import AskView, PendingPod, StopView


@dataclass(frozen=True, slots=True)
class Verdict:
    """``kind`` is one of console.md 6.2; ``text`` the sentence, ``key`` and ``args`` the same for scripts."""

    kind: str
    text: str
    key: str
    args: dict[str, Any]


def verdict(pod: PendingPod, picture: Picture) -> Verdict:
    """Return the first of these that is true: our fault, stuck, not asked, your request, your quota, full."""
    for rule in (_our_fault, _stuck, _error, _not_asked, _quota, _request, _too_many, _full):
        if found := rule(pod, picture):
            return found
    text = _("No node took this pod at the last try.")
    return Verdict("full", text, "why.unknown", {})


def _our_fault(pod: PendingPod, picture: Picture) -> Verdict | None:
    leader = picture.leader
    if not leader.is_elected or leader.holder:
        return None
    text = _("The scheduler has no leader. Nothing is being placed. Your pod is not the cause.")
    return Verdict("our_fault", text, "why.no_leader", {})


def _stuck(pod: PendingPod, picture: Picture) -> Verdict | None:
    if not pod.placed_on:
        return None
    node = picture.nodes.get(pod.placed_on)
    if node is not None and node.lock:
        text = _("Placed on {node}, but the node has not started it: its lock is held.")
    else:
        text = _("Placed on {node}, but the node has not started it yet.")
    return Verdict("stuck", text.format(node=pod.placed_on), "why.stuck", {"node": pod.placed_on})


def _error(pod: PendingPod, picture: Picture) -> Verdict | None:
    if not pod.error or pod.cause not in ("", causes.ERROR):
        return None
    return Verdict(
        "our_fault", _("The last try ended in an error: {error}").format(error=pod.error), "why.error", {}
    )


def _not_asked(pod: PendingPod, picture: Picture) -> Verdict | None:
    if pod.tries:
        return None
    if "gate" in pod.before_text.lower():
        return Verdict("gated", _("Held by a scheduling gate."), "why.gated", {})
    if pod.before_text:
        text = _("kube-scheduler has ruled out all nodes before asking us: {text}").format(
            text=pod.before_text
        )
    else:
        text = _("kube-scheduler has not asked for this pod yet.")
    return Verdict("not_asked", text, "why.not_asked", {"text": pod.before_text})


def _quota(pod: PendingPod, picture: Picture) -> Verdict | None:
    if pod.cause != reasons.QUOTA_NOT_FIT:
        return None
    text = _("The quota of namespace {ns} has less left than this pod asks.").format(ns=pod.namespace)
    return Verdict("quota", text, "why.quota", {"namespace": pod.namespace})


def _request(pod: PendingPod, picture: Picture) -> Verdict | None:
    """Say when no GPU of the cluster, or of the kind that is asked, could ever hold the request."""
    asks = sorted(pod.asks, key=lambda ask: -ask.mem_mib)
    return next((found for ask in asks if (found := _too_large(ask, picture))), None)


def _too_large(ask: AskView, picture: Picture) -> Verdict | None:
    largest = max(picture.topology.mem, default=0)
    text = _("No GPU of this cluster has {asked}. The largest has {largest}.")
    if ask.mem_mib <= largest:
        largest = notes.largest_mib(ask.vendor, picture)
        text = _("No {vendor} GPU of this cluster has {asked}. The largest has {largest}.")
    if not largest or ask.mem_mib <= largest:
        return None
    values = {"asked": presenters.memory(ask.mem_mib), "largest": presenters.memory(largest)}
    args = {"mem_mib": ask.mem_mib, "largest_mib": largest}
    return Verdict("request", text.format(vendor=ask.vendor, **values), "why.too_large", args)


def _too_many(pod: PendingPod, picture: Picture) -> Verdict | None:
    """Say that no node has so many GPUs: a container's GPUs are different ones, never shares of one (F01)."""
    if pod.cause != reasons.NODE_INSUFFICIENT_DEVICE:
        return None
    asks = sorted(pod.asks, key=lambda ask: -ask.cards)
    counted = ((ask, notes.most_on_a_node(ask.vendor, picture)) for ask in asks)
    ask, most = next(((ask, most) for ask, most in counted if 0 < most < ask.cards), (None, 0))
    if ask is None:
        return None
    text = _(
        "Needs {n} {vendor} GPUs on one node, no node has more than {most}. Shares of one GPU are one GPU."
    )
    args = {"gpus": ask.cards, "vendor": ask.vendor, "most": most}
    return Verdict("request", text.format(n=ask.cards, vendor=ask.vendor, most=most), "why.too_many", args)


def _full(pod: PendingPod, picture: Picture) -> Verdict | None:
    if not pod.asks:
        return None
    why = str(wording.cause_text(pod.cause).why)
    if len(pod.stops) > 1:
        return _full_for_some(pod, why)
    stop = next(iter(pod.stops), None)
    asks = [ask for ask in pod.asks if stop and ask.container == stop.container] or pod.asks
    ask = max(asks, key=lambda ask: (ask.mem_mib, ask.slices, ask.cards))
    args = {"gpus": ask.cards, "vendor": ask.vendor, "mem_mib": ask.mem_mib, "cause": pod.cause}
    together = _("No node has room for all that this pod asks.")
    text = f"{_nothing_fits(ask) if len(asks) == 1 else together} {why}".strip()
    if stop:
        text, args["container"] = _for_container(stop, text), stop.container
    return Verdict("full", text, "why.full", args)


def _full_for_some(pod: PendingPod, why: str) -> Verdict:
    """Say of a pod that nodes refuse at different containers what is true of all of them."""
    number = len(dict.fromkeys(ask.container for ask in pod.asks))
    text = _("No node has room for the {n} containers of this pod that ask for GPUs.").format(n=number)
    args = {"containers": number, "cause": pod.cause}
    return Verdict("full", f"{text} {why}".strip(), "why.containers", args)


def _for_container(stop: StopView, text: str) -> str:
    """Say which container it is about: what is free is what those before it leave."""
    told = (
        _("Container {name}, after those before it: {text}") if stop.fitted else _("Container {name}: {text}")
    )
    return told.format(name=stop.container, text=text)


def _nothing_fits(ask: AskView) -> str:
    """Say what no node has, in the unit that was asked: memory, slices, or GPUs alone."""
    size, total = _size(ask), _size(ask, times=ask.cards)
    if not size:
        text = ngettext(
            "No node has {n} {vendor} GPU for this pod.",
            "No node has {n} {vendor} GPUs for this pod.",
            ask.cards,
        )
        return text.format(n=ask.cards, vendor=ask.vendor)
    text = ngettext(
        "No node has {n} {vendor} GPU with {size} free.",
        "No node has {n} {vendor} GPUs with {size} free each.",
        ask.cards,
    )
    told = text.format(n=ask.cards, vendor=ask.vendor, size=size)
    return told if ask.cards == 1 else f"{told} {_('That is {total} in total.').format(total=total)}"


def _size(ask: AskView, *, times: int = 1) -> str:
    """Return what is asked of so many GPUs; empty where only their number is."""
    if ask.mem_mib:
        return presenters.memory(ask.mem_mib * times)
    return wording.slice_count(ask.slices * times) if ask.slices else ""


def funnel(pod: PendingPod, picture: Picture) -> dict[str, Any]:
    """Return the way from all nodes to none. What kube-scheduler ruled out is what we were not asked."""
    nodes = len(picture.nodes)
    refused = sum(group.nodes for group in pod.groups)
    return {
        "nodes": nodes,
        "ruled_out_before": max(nodes - pod.asked, 0),
        "before_text": pod.before_text,
        "asked": pod.asked,
        "refused": refused,
    }


STEPS: Final = ("admitted", "queued", "gpu_filter", "bound", "running")


def journey(pod: PendingPod) -> list[dict[str, Any]]:
    """Return the steps; the one where the pod stands is marked, those before it are done."""
    at = {"admitted": pod.since_ms, "queued": pod.since_ms, "gpu_filter": pod.last_try_ms}
    standing = "bound" if pod.placed_on else "gpu_filter" if pod.tries else "queued"
    stop = STEPS.index(standing)
    return [
        {
            "step": step,
            "at": at.get(step, 0),
            "done": number < stop,
            "standing": number == stop,
            "tries": pod.tries,
        }
        for number, step in enumerate(STEPS)
    ]


def groups(pod: PendingPod) -> list[dict[str, Any]]:
    """Return the groups of equal refusals, with their words counted and explained."""
    total = max(sum(group.nodes for group in pod.groups), 1)
    return [
        {
            "text": group.text,
            "nodes": group.nodes,
            "share": group.nodes * 100 // total,
            "words": reasons.words(group.text) or [group.text],
            "examples": group.examples,
            "containers": group.containers,
        }
        for group in pod.groups
    ]


def words_of(pod: PendingPod) -> list[str]:
    """Return each reason word once, in the order of the groups."""
    return list(dict.fromkeys(word for group in groups(pod) for word in group["words"]))
