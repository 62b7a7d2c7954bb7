"""The live picture of one revision: frozen, so that any thread may read it for as long as it likes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.live.columns import Columns, Topology
from dashboard.picture.digest import Digest, Sums
from scheduler_app.core.publication import (
    DecisionView,
    LeaderView,
    LiveEvent,
    NodeView,
    PendingPod,
    QuotaView,
    SourceView,
)

NO_COLUMNS = Columns((), (), (), (), ())
NO_TOPOLOGY = Topology(0, (), (), (), (), (), (), (), (), (), ())
NO_LEADER = LeaderView(is_leader=False, is_elected=False)


@dataclass(frozen=True, slots=True)
class Picture:
    """One revision. ``epoch`` is empty until a first publication came: nothing is known then, not even zeros.

    ``received_ms`` is this process's clock when the last publication came; ``decisions`` and ``events`` are
    newest first.
    """

    epoch: str = ""
    revision: int = 0
    at_ms: int = 0
    received_ms: int = 0
    nodes: Mapping[str, NodeView] = field(default_factory=dict)
    digests: Mapping[str, Digest] = field(default_factory=dict)
    sums: Mapping[str, Sums] = field(default_factory=dict)
    pending: Mapping[str, PendingPod] = field(default_factory=dict)
    quotas: Sequence[QuotaView] = ()
    decisions: Sequence[DecisionView] = ()
    events: Sequence[LiveEvent] = ()
    leader: LeaderView = NO_LEADER
    sources: Sequence[SourceView] = ()
    last_pass_ms: int = 0
    last_pass_duration_ms: float = 0.0
    columns: Columns = NO_COLUMNS
    topology: Topology = NO_TOPOLOGY

    @property
    def is_known(self) -> bool:
        return self.epoch != ""
