"""The scheduler's own settings: frozen, each with default, unit and one sentence (CFG-1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    scheduler_name: str = ""
    """Written to ``spec.schedulerName`` by the webhook; also the source of Events."""
    node_policy: str = "binpack"
    """Default node policy; ``spread`` wants the lowest score, any other text the highest."""
    card_policy: str = "spread"
    """Default device policy, possibly a comma-separated chain (F-24)."""
    node_label_selector: Mapping[str, str] = field(default_factory=dict)
    """Only nodes with all these labels are registered (R-4)."""
    node_lock_timeout_seconds: float = 300.0
    """Age after which a node lock may be taken over (B-11)."""
    node_lock_retry_seconds: float = 28.0
    """How long a bind of a pod group's member goes on trying (B-6); 0 or less: not at all."""
    bind_wait_seconds: float = 25.0
    """How long a bind waits its turn on a node; 0 refuses at once, as the reference does."""
    force_overwrite_default_scheduler: bool = True
    """Whether the webhook takes over pods of ``default-scheduler`` (W-4)."""
    leader_elect: bool = False
    lease_name: str = ""
    lease_namespace: str = ""
    host_name: str = ""
    """Prefix of the lease holder's identity (L-3)."""
    pod_name: str = ""
    pod_namespace: str = ""
    """Where role labels are maintained (L-8)."""
    legacy_metrics: bool = False
    profiling: bool = False
    """Whether the extender's door tells where all threads are."""
    quota_all_vendors: bool = False
    """Check quota in every vendor's fit, where the reference checks only some (Q13)."""
    readyz_follower_ok: bool = False
    """Answer 200 on ``/readyz`` of a replica that does not lead."""
    unsynced_wait_seconds: float = 5.0
    """How long ``/filter`` waits for the first registration pass before it answers an error (H-15)."""
    console_url: str = ""
    """The console's address for people; with it an Event of each waiting pod leads there."""
