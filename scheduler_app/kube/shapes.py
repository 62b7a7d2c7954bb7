"""The fields we read of Kubernetes objects, and no others: what is not named here is never kept (I10).

Every member may be absent or null. A member of the wrong type fails its own object only (``decode.py``).
"""

from msgspec import Raw, Struct, field

Scalar = str | int | float
Quantities = dict[str, Scalar] | None
Texts = dict[str, str | None] | None


class Owner(Struct, gc=False):
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class Meta(Struct, rename="camel"):
    name: str
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    annotations: Texts = None
    labels: Texts = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: list[Owner] | None = None


class Resources(Struct):
    limits: Quantities = None
    requests: Quantities = None


class ContainerShape(Struct, rename="camel"):
    name: str | None = None
    resources: Resources | None = None
    restart_policy: str | None = None


class Gate(Struct, gc=False):
    name: str = ""


class SchedulingGroup(Struct, rename="camel", gc=False):
    pod_group_name: str | None = None


class PodSpec(Struct, rename="camel"):
    containers: list[ContainerShape] | None = None
    init_containers: list[ContainerShape] | None = None
    node_name: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: list[Gate] | None = None
    scheduling_group: SchedulingGroup | None = None
    priority: int | None = None


class ConditionShape(Struct, gc=False):
    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None


class Terminated(Struct, rename="camel", gc=False):
    exit_code: int | None = None


class ContainerState(Struct):
    terminated: Terminated | None = None


class ContainerStatus(Struct):
    state: ContainerState | None = None


class PodStatus(Struct, rename="camel"):
    phase: str | None = None
    conditions: list[ConditionShape] | None = None
    init_container_statuses: list[ContainerStatus] | None = None


class PodShape(Struct):
    metadata: Meta
    spec: PodSpec | None = None
    status: PodStatus | None = None


class NodeSpec(Struct, gc=False):
    unschedulable: bool | None = None


class NodeStatus(Struct):
    capacity: Quantities = None
    allocatable: Quantities = None
    conditions: list[ConditionShape] | None = None


class NodeShape(Struct):
    metadata: Meta
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class QuotaSpec(Struct):
    hard: Quantities = None


class QuotaShape(Struct):
    metadata: Meta
    spec: QuotaSpec | None = None


class LeaseSpec(Struct, rename="camel", gc=False):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: str | None = None


class LeaseShape(Struct):
    metadata: Meta
    spec: LeaseSpec | None = None


class ListMeta(Struct, rename="camel", gc=False):
    resource_version: str | None = None
    continue_token: str | None = field(default=None, name="continue")


class RawPage(Struct):
    """A page whose items are decoded one by one, after they could not be decoded together."""

    kind: str = ""
    metadata: ListMeta = field(default_factory=ListMeta)
    items: list[Raw] | None = None


class RawEvent(Struct):
    """One line of a watch."""

    type: str
    object: Raw


class Bare(Struct):
    """What is left of an object that cannot be decoded, and all there is of a bookmark."""

    metadata: ListMeta = field(default_factory=ListMeta)


class BareMeta(Struct, rename="camel", gc=False):
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class BareItem(Struct, gc=False):
    metadata: BareMeta = field(default_factory=BareMeta)


class BarePage(Struct):
    """A list of which only names, identities and versions are read."""

    metadata: ListMeta = field(default_factory=ListMeta)
    items: list[BareItem] | None = None


class StatusDetails(Struct, rename="camel", gc=False):
    retry_after_seconds: int | None = None


class StatusShape(Struct, rename="camel"):
    """The object of an ERROR event."""

    code: int | None = None
    reason: str | None = None
    message: str | None = None
    details: StatusDetails | None = None
