"""Which pods count, where, and with what: accounting follows the pods' annotations exactly (M-7 to M-15).

Not locked: ``cache.ClusterState`` owns one and calls it under its lock.

A reservation of ours is ahead of the watch for a moment. Until the written annotations come back, the states
the pod was in before the decision are told apart by their *signatures* (the annotations that matter) and
ignored; any other content is somebody's newer word and is followed (Q-46). The signatures of what a failed
filter call gave up are ignored as well, until ``/filter`` places the pod again or the pod is bound (Q-39).

While a pod is bound (``claims``) its reservation stays what it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_app.core import accounting, annotations, codec
from scheduler_app.core.types import Condition, Devices, NodeName, Pod, PodUid
from scheduler_app.engine.claims import Claims
from scheduler_app.engine.nodebook import Backends, Held, NodeBook
from scheduler_app.engine.quotabook import QuotaBook

Signature = tuple[tuple[str, str], ...]
Past = tuple[Signature, ...]
RECALLED = 16  # signatures kept for a pod: more can hardly be on their way at once


@dataclass(slots=True)
class PodEntry:
    """One counted pod. ``raw`` are its devices by container, ``devices`` their effective use.

    ``is_ours``: this process made the decision; else it was read from annotations.
    """

    pod: Pod
    node: NodeName
    raw: Devices
    devices: Devices
    signature: Signature
    stale: Past | None = None  # while the reservation has not come back in the watch
    condition: Condition = field(default_factory=Condition)  # ``PodScheduled`` when it was decided
    is_ours: bool = False

    @property
    def past(self) -> Past:
        return ((*(self.stale or ()), self.signature)) if self.signature else (self.stale or ())


class PodBook:
    def __init__(self, *, backends: Backends, nodes: NodeBook, quotas: QuotaBook) -> None:
        self._backends = backends
        self._nodes = nodes
        self._quotas = quotas
        keys = {key for backend in backends.values() for key in backend.written_keys}
        self._keys = tuple(sorted(keys | {annotations.ASSIGNED_NODE}))
        self._entries: dict[PodUid, PodEntry] = {}
        self._given_up: dict[PodUid, Past] = {}
        self._claims = Claims()

    def get(self, uid: PodUid) -> PodEntry | None:
        return self._entries.get(uid)

    def entries(self) -> Mapping[PodUid, PodEntry]:
        return self._entries

    def signature(self, pod: Pod) -> Signature:
        given = pod.annotations
        return tuple((key, given[key]) for key in self._keys if key in given)

    def seen(self, pod: Pod) -> None:
        """Take a pod as the watch shows it.

        Raises:
            CodecError: its device annotations cannot be read; it counts as before.
        """
        entry = self._entries.get(pod.uid)
        claim = self._claims.drop(pod.uid) if pod.node_name else self._claims.get(pod.uid)
        if pod.is_terminal:
            self.gone(pod.uid)
        elif entry is not None and self._is_given_up(entry, pod):
            if claim is not None:
                claim.held_back = pod
            else:
                self.give_up(pod)
        elif annotations.ASSIGNED_NODE in pod.annotations:
            self._follow(pod, entry)
        elif entry is not None and entry.stale is None:
            self._remove(pod.uid)

    def gone(self, uid: PodUid) -> None:
        self._given_up.pop(uid, None)
        self._claims.drop(uid)
        self._remove(uid)

    def take(self, uid: PodUid) -> PodEntry | None:
        """Stop counting a pod and return what it held (F-4, B-2).

        Raises:
            OccupiedError: it is bound, or about to be, and so it stays.
        """
        self._claims.raise_if_claimed(uid)
        return self._remove(uid)

    def claim(self, uid: PodUid, *, node: NodeName, since: PodEntry | None) -> bool:
        """Begin to bind: the decision stays until ``settle``. False: it is no longer the one of ``since``."""
        if not is_still(since, self._entries.get(uid), node=node):
            return False
        self._claims.add(uid, node)
        return True

    def settle(self, uid: PodUid, *, is_bound: bool) -> None:
        """End a claim. A pod that was bound keeps it until the watch shows it so."""
        claim = self._claims.get(uid)
        if claim is None:
            return  # the watch was faster
        if is_bound:
            claim.is_bound = True
            return
        self._claims.drop(uid)
        entry = self._entries.get(uid)
        if entry is not None and claim.held_back is not None and self._is_given_up(entry, claim.held_back):
            self.give_up(claim.held_back)

    def bound_to(self, uid: PodUid) -> NodeName | None:
        return self._claims.bound_to(uid)

    def unbind(self, uid: PodUid) -> None:
        if self._claims.bound_to(uid) is not None:
            self._claims.drop(uid)

    def give_up(self, pod: Pod, *, taken: PodEntry | None = None) -> None:
        """Stop counting a pod, and count nothing it is or was annotated with again (Q-39, F16).

        ``taken`` is what ``take`` returned: the pod at hand may be older than our last decision about it.
        """
        entry = self._remove(pod.uid)
        past = self._recalled(pod, taken, entry)
        if past:
            self._given_up[pod.uid] = past

    def assume(
        self, pod: Pod, *, before: Pod, node: NodeName, devices: Devices, taken: PodEntry | None = None
    ) -> None:
        """Count a reservation; ``pod`` carries the annotations about to be written, ``before`` does not."""
        signature = self.signature(pod)
        past = tuple(old for old in self._recalled(before, taken) if old != signature)
        self._given_up.pop(pod.uid, None)
        effective = _effective(pod, devices)
        condition = before.scheduled
        self._put(
            PodEntry(pod, node, devices, effective, signature, stale=past, condition=condition, is_ours=True)
        )

    def _recalled(self, pod: Pod, *entries: PodEntry | None) -> Past:
        """Return the signatures of earlier states that may still arrive, the newest last."""
        found = dict.fromkeys(self._given_up.get(pod.uid, ()))
        for entry in entries:
            found |= dict.fromkeys(entry.past if entry else ())
        signature = self.signature(pod)
        if signature:
            found[signature] = None
        return tuple(found)[-RECALLED:]

    def _follow(self, pod: Pod, entry: PodEntry | None) -> None:
        signature = self.signature(pod)
        stale = (entry.stale if entry else None) or self._given_up.get(pod.uid, ())
        if not pod.node_name and signature in stale:
            return
        self._given_up.pop(pod.uid, None)
        if entry is not None and signature == entry.signature and not _use_changed(entry.pod, pod):
            self._confirm(entry, pod)
            return
        raw = self._decode(pod)
        node = NodeName(pod.annotations[annotations.ASSIGNED_NODE])
        condition = entry.condition if entry else pod.scheduled
        self._put(PodEntry(pod, node, raw, _effective(pod, raw), signature, condition=condition))

    def _confirm(self, entry: PodEntry, pod: Pod) -> None:
        """Take the newer object of a pod that holds what it held; its node changed only if its looks did."""
        entry.stale = None
        looks = (entry.pod.phase, entry.pod.annotations, entry.pod.is_terminating)
        entry.pod = pod
        held = self._nodes.pods.get(entry.node, {}).get(pod.uid)
        if held is not None:
            held.pod = pod
        if looks != (pod.phase, pod.annotations, pod.is_terminating):
            self._nodes.touch(entry.node)

    def _decode(self, pod: Pod) -> Devices:
        return {
            vendor: codec.decode_devices(pod.annotations[backend.keys.allocated])
            for vendor, backend in self._backends.items()
            if backend.keys.allocated in pod.annotations
        }

    def _is_given_up(self, entry: PodEntry, pod: Pod) -> bool:
        """Say whether kube-scheduler gave the pod up after our decision (F16)."""
        return (
            not pod.node_name
            and pod.scheduled.status == "False"
            and pod.scheduled != entry.condition
            and self.signature(pod) == entry.signature  # else the event is older than the decision
        )

    def _put(self, entry: PodEntry) -> None:
        self._remove(entry.pod.uid)
        self._entries[entry.pod.uid] = entry
        self._nodes.put_pod(entry.node, Held(entry.pod, entry.devices))
        self._quotas.charge(entry.pod.namespace, entry.devices, sign=+1)

    def _remove(self, uid: PodUid) -> PodEntry | None:
        entry = self._entries.pop(uid, None)
        if entry is not None:
            self._nodes.drop_pod(entry.node, uid)
            self._quotas.charge(entry.pod.namespace, entry.devices, sign=-1)
        return entry


def is_still(since: PodEntry | None, now: PodEntry | None, *, node: NodeName) -> bool:
    """Say whether a pod is placed on ``node``, or at least as it was when its bind began (``since``)."""
    if now is None:
        return since is None
    return now.node == node or (since is not None and since.node == now.node)


def _effective(pod: Pod, raw: Devices) -> Devices:
    """Return what counts of a pod's devices: only what runs, once its init containers ended (M-12, M-13)."""
    return accounting.app_only(pod, raw) if pod.init_succeeded else accounting.collapse(pod, raw)


def _use_changed(before: Pod, after: Pod) -> bool:
    """Say whether the effective use may differ though the annotations do not."""
    return before.init_succeeded != after.init_succeeded
