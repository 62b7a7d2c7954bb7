"""The console's sentences, once for templates and browser: ``{name}`` marks an argument.

Wire words (``CardInsufficientMemory``) are never translated; the explanation beside them is.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from dashboard import presenters
from dashboard.picture import causes
from scheduler_app.core import reasons
from scheduler_app.core.display import CORES

Text = Any
"""A lazy string: it becomes words in the language of whoever reads."""


class ProblemText(NamedTuple):
    """``one`` and ``many`` are told by count; ``help`` says what it means and what to look at."""

    one: Text
    many: Text
    help: Text


class CauseText(NamedTuple):
    """``short`` stands in lists; ``why`` explains; ``remedy`` says what usually helps."""

    short: Text
    why: Text
    remedy: Text


PROBLEMS: Final[Mapping[str, ProblemText]] = {
    "no_leader": ProblemText(
        _("No leader: no pod is being placed"),
        _("No leader: no pod is being placed"),
        _("Nobody holds a fresh Lease. Look at the scheduler's pods and at the Lease named here."),
    ),
    "not_synced": ProblemText(
        _("{names} not loaded yet"),
        _("{names} not loaded yet"),
        _("The scheduler still reads the cluster. If this stays, it may lack the right to list."),
    ),
    "source_late": ProblemText(
        _("Watch of {names} is silent"),
        _("Watch of {names} is silent"),
        _("The API server sends a bookmark about once a minute; none came. Numbers may be old."),
    ),
    "node_silent": ProblemText(
        _("{names} is silent: its device plugin stopped reporting"),
        _("{count} nodes are silent: their device plugins stopped reporting"),
        _("The handshake was not answered in time. Running pods go on; no new pod is placed there."),
    ),
    "node_gone": ProblemText(
        _("{names} lost its GPUs: a vendor is gone"),
        _("{count} nodes lost their GPUs: a vendor is gone"),
        _("The device plugin took its GPUs away. They come back when it reports again."),
    ),
    "node_unregistered": ProblemText(
        _("{names} never registered its GPUs"),
        _("{count} nodes never registered their GPUs"),
        _("The node is selected, but no device plugin has written what it has."),
    ),
    "gpu_unhealthy": ProblemText(
        _("1 GPU is unhealthy on {names}"),
        _("{count} GPUs are unhealthy"),
        _("The device plugin reports the GPU as unhealthy; nothing new is placed on it."),
    ),
    "lock_held": ProblemText(
        _("Node lock held too long on {names}"),
        _("Node lock held too long on {names}"),
        _("A pod took the lock when it was bound and has not given it back. Others cannot be bound here."),
    ),
    "pods_wait": ProblemText(
        _("1 pod waits: {cause}"),
        _("{count} pods wait: {cause}"),
        _("They have been refused for more than ten minutes for the same reason."),
    ),
    "not_started": ProblemText(
        _("{names} is placed but does not start"),
        _("{count} pods are placed but do not start"),
        _("The GPUs are reserved, but the node has not handed them over. Look at its device plugin."),
    ),
    "drift": ProblemText(
        _("1 GPU on {names} holds more than it has"),
        _("{count} GPUs hold more than they have"),
        _("Pods and registration disagree: a GPU was registered smaller, or a pod was placed elsewhere."),
    ),
    "orphan": ProblemText(
        _("1 pod on {names} holds a GPU that is not registered"),
        _("{count} pods hold GPUs that are not registered"),
        _("A GPU was replaced or left under a running pod. What the pod holds is counted on no GPU."),
    ),
    "quota_full": ProblemText(
        _("Quota of {names} nearly full: {resource}"),
        _("Quota of {names} nearly full: {resource}"),
        _("90 % or more is used. New pods of this namespace may be refused."),
    ),
}

CAUSES: Final[Mapping[str, CauseText]] = {
    reasons.CARD_INSUFFICIENT_MEMORY: CauseText(
        _("memory full"),
        _("No GPU has as much free memory as the pod asks."),
        _("Less memory, or waiting until a pod ends. Another policy does not help."),
    ),
    reasons.CARD_INSUFFICIENT_CORE: CauseText(
        _("cores full"),
        _("No GPU has as many free cores as the pod asks."),
        _("Fewer cores, or waiting until a pod ends."),
    ),
    reasons.CARD_COMPUTE_EXHAUSTED: CauseText(
        _("cores used up"),
        _("The GPU's cores are taken to the last percent, so that a pod without a core limit cannot join."),
        _("Waiting, or a GPU that is not held exclusively."),
    ),
    reasons.CARD_SHARES_EXHAUSTED: CauseText(
        _("shares used up"),
        _("The GPU already carries as many pods as it is divided into."),
        _("Waiting, or more shares per GPU in the device plugin's configuration."),
    ),
    reasons.CARD_TYPE_MISMATCH: CauseText(
        _("no such model"),
        _("The pod names models that these nodes do not have, or excludes those they have."),
        _("Allow another model in the pod's annotations."),
    ),
    reasons.CARD_UUID_MISMATCH: CauseText(
        _("named GPU not here"),
        _("The pod names GPUs by id that are elsewhere, or excludes those here."),
        _("Remove the list of ids from the pod's annotations."),
    ),
    reasons.CARD_NOT_HEALTHY: CauseText(
        _("GPU unhealthy"),
        _("The device plugin reports the GPU as unhealthy."),
        _("Repair the GPU or drain it."),
    ),
    reasons.CARD_CORDONED: CauseText(
        _("GPU cordoned"),
        _("An admin has taken the GPU out of service."),
        _("Remove it from the node's annotation."),
    ),
    reasons.CARD_CUSTOM_RULE: CauseText(
        _("vendor's own rule"),
        _("A rule of this vendor forbids the combination."),
        _("See the vendor's notes; another size often fits."),
    ),
    reasons.CARD_MIG_TOPOLOGY_INFEASIBLE: CauseText(
        _("no place for the slice"),
        _("No instance of this size can be cut where the others lie."),
        _("A smaller slice, or waiting until an instance is freed."),
    ),
    reasons.EXCLUSIVE_CONFLICT: CauseText(
        _("wants a GPU for itself"),
        _("The pod asks for a whole GPU and each one is shared already."),
        _("Ask for less than 100 % of the cores, or wait."),
    ),
    reasons.NUMA_NOT_FIT: CauseText(
        _("not on one NUMA node"),
        _("No NUMA node has enough free GPUs, and the pod insists on one."),
        _("Drop the NUMA binding, or ask for fewer GPUs."),
    ),
    reasons.QUOTA_NOT_FIT: CauseText(
        _("quota full"),
        _("The namespace's quota has less left than the pod asks."),
        _("A smaller request, a larger quota, or waiting until a pod of the namespace ends."),
    ),
    reasons.MODE_NOT_FIT: CauseText(
        _("other mode"),
        _("The pod asks for a sharing mode that these GPUs are not in."),
        _("Remove the mode from the pod's annotations."),
    ),
    reasons.CARDS_INSUFFICIENT: CauseText(
        _("too few GPUs on one node"),
        _("Some GPUs fit, but not as many on one node as the pod asks."),
        _("Fewer GPUs per pod, or waiting until a node empties."),
    ),
    reasons.NODE_INSUFFICIENT_DEVICE: CauseText(
        _("node too small"),
        _("The node has fewer GPUs of this kind than the pod asks."),
        _("Fewer GPUs per pod."),
    ),
    reasons.NODE_UNREGISTERED: CauseText(
        _("node not registered"),
        _("The node's device plugin has not said which GPUs it has."),
        _("Look at the device plugin on the node."),
    ),
    causes.NOT_ASKED: CauseText(
        _("not asked yet"),
        _("kube-scheduler has not asked for this pod, or has ruled out all nodes before it did."),
        _("Its own words are quoted on the pod's page."),
    ),
    causes.PLACED: CauseText(
        _("placed, not started"),
        _("GPUs are reserved on a node that has not started the pod yet."),
        _("Look at the node's lock and its device plugin."),
    ),
    causes.ERROR: CauseText(
        _("an error"),
        _("The scheduler could not finish its answer."),
        _("The text is quoted on the pod's page; it tries again by itself."),
    ),
}

NODE_STATES: Final[Mapping[str, Text]] = {
    "ok": _("ok"),
    "silent": _("silent"),
    "gone": _("gone"),
    "unregistered": _("not registered"),
    "cordoned": _("cordoned"),
    "unhealthy": _("unhealthy"),
}

BROWSER: Final[Mapping[str, Text]] = {
    "live": _("Live"),
    "delayed": _("Delayed"),
    "disconnected": _("Disconnected · data of {time}"),
    "connecting": _("Connecting"),
    "paused": _("Paused · {count} changes held"),
    "follower": _("Follower · leader is {leader}"),
    "no_leader": _("No leader since {time}"),
    "no_leader_ever": _("No leader"),
    "loading": _("Loading {names}"),
    "retry_in": _("Next try in {seconds} s"),
    "copied": _("Copied"),
    "problems_one": _("1 problem"),
    "problems_many": _("{count} problems"),
    "worst_since": _("the worst since {time} ({age})"),
    "all_well": _("All well."),
    "all_well_detail": _("{healthy} of {total} GPUs healthy"),
    "nobody_waits": _("nobody waits"),
    "longest_wait": _("nobody waits longer than {age}"),
    "no_match": _("Nothing is called that."),
    "nodes": _("nodes"),
    "node_one": _("node"),
    "node": _("Node"),
    "page": _("Page"),
    "of_nodes": _("{shown} of {total} nodes"),
    "allocated": _("allocated"),
    "memory": _("memory"),
    "cores": _("cores"),
    "not_counted": _("not counted"),
    "shares": _("shares"),
    "pod_one": _("1 pod"),
    "pod_many": _("{count} pods"),
    "no_gpus": _("no GPU"),
    "selected": _("{nodes} nodes selected: {gpus} GPUs, {free} GiB free"),
    "round_trip": _("{ms} ms"),
    "block": _("block of {n} on {m}"),
    "stranded": _("stranded"),
}


def cause_text(word: str) -> CauseText:
    """Return the texts of a cause; an unknown word stands for itself, because vendors may bring their own."""
    return CAUSES.get(word) or CauseText(word, "", "")


def all_well(summary: Mapping[str, Any], now_ms: int) -> str:
    """Return the one green sentence: ``"All well. 424 of 424 GPUs healthy, nobody waits."``."""
    healthy, total = (presenters.number(count) for count in summary["gpus"])
    parts = [str(BROWSER["all_well_detail"]).format(healthy=healthy, total=total)]
    if oldest := summary["oldest_pending_ms"]:
        parts.append(str(BROWSER["longest_wait"]).format(age=presenters.since(oldest, now_ms)))
    else:
        parts.append(str(BROWSER["nobody_waits"]))
    return f"{BROWSER['all_well']} {', '.join(parts)}"


def pod_count(count: int) -> str:
    return str(BROWSER["pod_one"] if count == 1 else BROWSER["pod_many"]).format(count=f"{count:,}")


def core_count(amount: int, unit: str) -> str:
    """Return an amount of cores in a vendor's unit: ``"30 %"``, ``"152 CU"``, ``"1 core"``."""
    if unit == CORES:
        return ngettext("{n} core", "{n} cores", amount).format(n=presenters.number(amount))
    return f"{presenters.number(amount)} {unit}"


def share_count(amount: int) -> str:
    return ngettext("{n} share", "{n} shares", amount).format(n=presenters.number(amount))


def slice_count(amount: int) -> str:
    return ngettext("{n} slice", "{n} slices", amount).format(n=presenters.number(amount))


def problem_title(key: str, *, count: int, names: tuple[str, ...], args: Mapping[str, str]) -> str:
    """Return the sentence of a problem. Arguments are data: they are put in, never read as a pattern."""
    text = PROBLEMS[key]
    pattern = str(text.one if count == 1 else text.many)
    filled = {**args, "count": str(count), "names": ", ".join(names[:3])}
    if "cause" in args:
        filled["cause"] = str(cause_text(args["cause"]).short)
    return pattern.format_map(filled)


def for_browser() -> dict[str, Any]:
    """Return the words that modules need, in the language of the request."""
    return {
        "ui": {key: str(text) for key, text in BROWSER.items()},
        "problems": {key: [str(text.one), str(text.many), str(text.help)] for key, text in PROBLEMS.items()},
        "causes": {key: str(text.short) for key, text in CAUSES.items()},
        "states": {key: str(text) for key, text in NODE_STATES.items()},
    }
