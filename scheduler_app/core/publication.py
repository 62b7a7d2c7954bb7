"""What the console is told.

The live picture as frozen values, made by the publisher thread from the cluster state.

Amounts are wire integers: MiB, and cores in the vendor's own unit; ratios are computed by readers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

WHOLE = 100
"""All of a card's cores in percent."""

NodeState = Literal["ok", "silent", "gone", "unregistered", "cordoned"]


@dataclass(frozen=True, slots=True)
class PodShare:
    """What one pod holds on one card. Amounts are as the card's, None where the card's are.

    ``parts`` are the vendor's names for it: templates, profiles, policies. ``containers`` are the names of
    those that share it.
    """

    uid: str
    namespace: str
    name: str
    mem_mib: int | None
    cores: int | None
    shares: int
    phase: str = ""
    parts: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SliceView:
    """One instance cut out of a card. ``pod`` has it, ``"<namespace>/<name>"``."""

    profile: str
    start: int
    size: int
    pod: str = ""


@dataclass(frozen=True, slots=True)
class CardView:
    """One card as people see it. ``vendor`` is the vendor's title.

    Pairs are (used, total). Memory is MiB, cores are in ``cores_unit``; None is an amount that the vendor
    does not count, which is not 0.
    """

    id: str
    vendor: str
    model: str
    index: int
    mode: str
    numa: int
    healthy: bool
    cordoned: bool
    shares: tuple[int, int]  # used, total
    mem_mib: tuple[int, int] | None
    cores: tuple[int, int] | None
    pods: tuple[PodShare, ...] = ()
    slices: tuple[SliceView, ...] = ()
    slice_total: int = 0
    cores_unit: str = "%"

    @property
    def cores_percent(self) -> tuple[int, int] | None:
        """Cores as percent of this card, so that those of cards with different units can be summed."""
        if self.cores is None:
            return None
        used, total = self.cores
        return (used if total == WHOLE else (used * 2 * WHOLE + total) // (2 * total)), WHOLE


@dataclass(frozen=True, slots=True)
class OrphanView:
    """What a pod holds of a card, by id, that its node does not register (any more)."""

    card: str
    pod: PodShare
    cores_unit: str = "%"


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node as of ``version``.

    ``registered_ms`` is the time of the last look at its registration (epoch ms).
    """

    name: str
    version: int
    state: NodeState
    pool: str
    is_ready: bool
    cards: tuple[CardView, ...]
    lock: str = ""  # the node lock's text, "" when free
    handshakes: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    registered_ms: int = 0
    problem: str = ""  # what is wrong with its registration, in words
    orphans: tuple[OrphanView, ...] = ()


@dataclass(frozen=True, slots=True)
class AskView:
    """What one container asks of one vendor, for each card; 0 where it asks nothing.

    ``slices`` are places of a card that is cut into a fixed number of them. ``is_whole``: it gets all memory
    of a card because it names none. The lists of models are as the pod has them, ``models`` those it wants
    and ``no_models`` those it does not; empty where there is no such list.
    """

    container: str
    vendor: str
    cards: int
    mem_mib: int
    mem_percent: int
    cores: int
    cores_unit: str = "%"
    slices: int = 0
    is_whole: bool = False
    models: str = ""
    no_models: str = ""


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """Nodes refused with one text, largest group first; ``examples`` are up to five names.

    ``containers`` are the names of those that did not fit; empty where the pod asks with one alone.
    """

    text: str
    nodes: int
    examples: tuple[str, ...]
    containers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StopView:
    """The nodes on which a pod that asks with several containers got as far as ``container``, and no further.

    ``fitted`` is how many of its containers that ask fitted there before; ``examples`` are up to five names.
    """

    container: str
    fitted: int
    nodes: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PendingPod:
    """A pod of ours that waits. ``cause`` is the dominant reason word, or a kind of console.md 6.2.

    ``stops`` say at which container nodes refused it, the nearest first: those that refused a later one.
    """

    uid: str
    namespace: str
    name: str
    owner: str
    since_ms: int
    asks: tuple[AskView, ...]
    cause: str = ""
    tries: int = 0
    last_try_ms: int = 0
    asked: int = 0
    groups: tuple[ReasonGroup, ...] = ()
    error: str = ""
    before_text: str = ""  # kube-scheduler's own words, when it has not asked us
    placed_on: str = ""  # reserved there, not running yet
    priority: int = 0
    stops: tuple[StopView, ...] = ()


@dataclass(frozen=True, slots=True)
class QuotaView:
    """One resource of one namespace. ``limit`` None is no limit; ``is_enforced`` False: nothing checks it."""

    namespace: str
    resource: str
    used: int
    limit: int | None
    source: str = ""
    unit: str = ""
    is_enforced: bool = True


@dataclass(frozen=True, slots=True)
class PolicyView:
    """The policy that counted; ``is_own``: the pod's annotation says so, else it is the scheduler's."""

    name: str = ""
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class DecisionView:
    """One filter call, newest first where listed.

    ``score_parts`` is what the winner's score was made of: "" is the use of the node, others are vendors.
    """

    at_ms: int
    namespace: str
    pod: str
    uid: str
    kind: str
    node: str
    score: float
    asked: int
    fitted: int
    duration_ms: float
    reason: str = ""
    node_policy: PolicyView = PolicyView()
    card_policy: PolicyView = PolicyView()
    score_parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeaderView:
    """Who leads, as observed.

    ``holder`` is empty when nobody does; ages are ms since we saw the lease renewed.
    """

    is_leader: bool
    is_elected: bool  # leader election is on
    holder: str = ""
    seen_ms: int = 0  # epoch ms of the last renewal we saw; 0 never
    renew_time: str = ""  # the lease's own
    duration_seconds: int = 0
    is_synced: bool = False
    identity: str = ""  # our own host name


@dataclass(frozen=True, slots=True)
class SourceView:
    """One informer or other source of truth."""

    name: str
    is_synced: bool
    seen_ms: int  # epoch ms of the last byte; 0 never
    objects: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LiveEvent:
    """Something that happened, for the timeline: ``text`` is a key, ``args`` its arguments."""

    at_ms: int
    kind: str
    severity: Literal["ok", "warn", "bad"]
    text: str
    args: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Publication:
    """Everything that changed in the revisions after ``base`` up to ``revision``.

    ``nodes`` are whole new values of changed nodes; ``gone`` names of nodes that left; ``pending_put`` whole
    new values of waiting pods; ``pending_del`` uids that wait no longer. ``quotas`` is the whole list when it
    changed, else None. ``leader`` and ``sources`` are always there. ``is_whole`` marks a complete picture
    (after start).
    """

    epoch: str
    base: int
    revision: int
    at_ms: int
    leader: LeaderView
    sources: Sequence[SourceView] = ()
    nodes: Sequence[NodeView] = ()
    gone: Sequence[str] = ()
    pending_put: Sequence[PendingPod] = ()
    pending_del: Sequence[str] = ()
    quotas: Sequence[QuotaView] | None = None
    decisions: Sequence[DecisionView] = ()
    events: Sequence[LiveEvent] = ()
    last_pass_ms: int = 0
    last_pass_duration_ms: float = 0.0
    is_whole: bool = False
