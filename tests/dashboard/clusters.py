"""Publications of made-up clusters.

For tests, and for ``tests/dashboard/devserver.py``. Same seed, same cluster.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

from scheduler_app.core import reasons
from scheduler_app.core.publication import (
    AskView,
    CardView,
    DecisionView,
    LeaderView,
    NodeView,
    PendingPod,
    PodShare,
    Publication,
    QuotaView,
    ReasonGroup,
    SliceView,
    SourceView,
)

MODELS: Final = (  # vendor, model, MiB, cards a node, nodes of sixty, how full
    ("NVIDIA", "A100-SXM4-80GB", 81920, 8, 26, 0.86),
    ("NVIDIA", "A30", 24576, 4, 14, 0.45),
    ("Ascend", "910B3", 65536, 8, 12, 0.6),
    ("AMD", "MI300X", 196608, 8, 8, 0.16),
)
NAMESPACES: Final = ("vision", "speech", "search", "ranking", "robotics", "research")
JOBS: Final = ("train", "eval", "serve", "nb", "sweep", "embed")


def make_card_view(*, id: str = "GPU-0", index: int = 0, **changes: Any) -> CardView:
    card = CardView(
        id=id,
        vendor="NVIDIA",
        model="A100-SXM4-80GB",
        index=index,
        mode="hami-core",
        numa=index // 4,
        healthy=True,
        cordoned=False,
        shares=(0, 10),
        mem_mib=(0, 81920),
        cores=(0, 100),
    )
    return replace(card, **changes)


def memory(card: CardView) -> tuple[int, int]:
    """Return the memory of a card on which it is counted."""
    assert card.mem_mib is not None
    return card.mem_mib


def cores(card: CardView) -> tuple[int, int]:
    """Return the cores of a card on which they are counted."""
    assert card.cores is not None
    return card.cores


def make_node_view(
    *, name: str = "gpu-0001", cards: Sequence[CardView] | None = None, **changes: Any
) -> NodeView:
    if cards is None:
        cards = [make_card_view(id=f"{name}-{n}", index=n) for n in range(2)]
    node = NodeView(name=name, version=1, state="ok", pool="train", is_ready=True, cards=tuple(cards))
    return replace(node, **changes)


def make_pending(
    *, uid: str = "u-1", namespace: str = "vision", name: str = "train-7", **changes: Any
) -> PendingPod:
    pod = PendingPod(
        uid=uid,
        namespace=namespace,
        name=name,
        owner="Job/train",
        since_ms=1_793_571_671_000,
        asks=(AskView("main", "NVIDIA", 2, 40960, 0, 0),),
        cause=reasons.CARD_INSUFFICIENT_MEMORY,
        tries=41,
        asked=60,
        groups=(ReasonGroup("8/8 CardInsufficientMemory", 70, ("gpu-0001",)),),
    )
    return replace(pod, **changes)


def make_publication(**changes: Any) -> Publication:
    """Return a whole picture of one node at revision 1, unless told otherwise."""
    publication = Publication(
        epoch="k3f9",
        base=0,
        revision=1,
        at_ms=1_793_582_531_250,
        leader=LeaderView(
            is_leader=True,
            is_elected=True,
            holder="hami-scheduler-0",
            seen_ms=1_793_582_531_000,
            duration_seconds=15,
            is_synced=True,
            identity="hami-scheduler-0",
        ),
        nodes=(make_node_view(),),
        is_whole=True,
    )
    return replace(publication, **changes)


class Cluster:
    """A cluster that lives.

    Pods come and go. ``now_ms`` is given, so that the same steps give the same values.
    """

    def __init__(self, *, seed: int = 7, scale: int = 1, now_ms: int, epoch: str = "demo") -> None:
        self._random = Random(seed)  # noqa: S311  (made-up data)
        self._scale = scale
        self._epoch = epoch
        self.now_ms = now_ms
        self.revision = 1
        self._serial = 0
        self.nodes = {node.name: node for node in self._build()}
        self.pending = {pod.uid: pod for pod in self._waiting()}
        self._spoil()

    def whole(self) -> Publication:
        return self._publication(
            base=0,
            nodes=tuple(self.nodes.values()),
            pending_put=tuple(self.pending.values()),
            quotas=self._quotas(),
            decisions=tuple(self._decision(self.now_ms - n * 41_000) for n in range(12)),
            is_whole=True,
        )

    def step(self, now_ms: int) -> Publication:
        """Let a few pods start or end, and one try go by."""
        self.now_ms, base = now_ms, self.revision
        self.revision += self._random.randint(1, 4)
        names = self._random.sample(sorted(self.nodes), k=max(2, len(self.nodes) // 40))
        changed = []
        for name in names:
            node = self.nodes[name]
            if node.cards and node.state == "ok":
                self.nodes[name] = self._stir(node)
                changed.append(self.nodes[name])
        pod = self._random.choice(sorted(self.pending.values(), key=lambda p: p.uid))
        self.pending[pod.uid] = replace(pod, tries=pod.tries + 1, last_try_ms=now_ms)
        return self._publication(
            base=base,
            nodes=tuple(changed),
            pending_put=(self.pending[pod.uid],),
            decisions=(self._decision(now_ms),) if self._random.random() < 0.5 else (),
        )

    def place(self, name: str, now_ms: int) -> Publication:
        """Fill the first empty card of a node with one pod, vision/fresh-1."""
        self.now_ms, base = now_ms, self.revision
        self.revision += 1
        node = self.nodes[name]
        spot = next(n for n, card in enumerate(node.cards) if not card.pods and card.healthy)
        pod = PodShare("fresh", "vision", "fresh-1", memory(node.cards[spot])[1], 100, 1, "Running")
        cards = [_with_pods(card, (pod,)) if n == spot else card for n, card in enumerate(node.cards)]
        self._change(name, cards=tuple(cards), version=node.version + 1)
        return self._publication(base=base, nodes=(self.nodes[name],))

    def _publication(self, **changes: Any) -> Publication:
        now = self.now_ms
        leader = LeaderView(
            True, True, "hami-scheduler-0", now - 1200, "2026-12-02T03:03:11Z", 15, True, "hami-scheduler-0"
        )
        sources = (
            SourceView("pods", True, now - 300, 3127),
            SourceView("nodes", True, now - 4100, len(self.nodes)),
            SourceView("resourcequotas", True, now - 31_000, 12),
        )
        whole = {"quotas": None, "last_pass_ms": now - 9000, "last_pass_duration_ms": 41.7, **changes}
        return Publication(
            epoch=self._epoch, revision=self.revision, at_ms=now, leader=leader, sources=sources, **whole
        )

    def _build(self) -> list[NodeView]:
        found: list[NodeView] = []
        for vendor, model, mib, cards, nodes, full in MODELS:
            for _number in range(nodes * self._scale):
                name = f"gpu-{len(found) + 1:04}"
                pool = "train" if mib > 30_000 else "serve"
                views = tuple(self._card(name, n, vendor, model, mib, full) for n in range(cards))
                node = make_node_view(name=name, cards=views, pool=pool)
                handshakes = {vendor: "Reported 2026-12-02 03:03:02"}
                found.append(replace(node, registered_ms=self.now_ms - 9000, handshakes=handshakes))
        return found

    def _card(self, node: str, index: int, vendor: str, model: str, mib: int, full: float) -> CardView:
        card = make_card_view(
            id=f"GPU-{self._random.getrandbits(48):012x}-{node}-{index}", index=index, vendor=vendor,
            model=model,
            mem_mib=(0, mib), numa=index // 4,
        )  # fmt: skip
        while self._random.random() < full and memory(card)[0] < mib * 0.97 and len(card.pods) < 6:
            card = self._with_pod(card)
        return card

    def _with_pod(self, card: CardView) -> CardView:
        self._serial += 1
        free = memory(card)[1] - memory(card)[0]
        mem = min(free, max(1024, memory(card)[1] * self._random.choice((1, 2, 2, 3, 4, 5)) // 8))
        more = min(100 - cores(card)[0], self._random.choice((0, 10, 20, 30, 50)))
        namespace, job = self._random.choice(NAMESPACES), self._random.choice(JOBS)
        pod = PodShare(f"p{self._serial}", namespace, f"{job}-{self._serial % 97}", mem, more, 1, "Running")
        return _with_pods(card, (*card.pods, pod))

    def _stir(self, node: NodeView) -> NodeView:
        cards = list(node.cards)
        n = self._random.randrange(len(cards))
        if cards[n].pods and self._random.random() < 0.5:
            cards[n] = _with_pods(cards[n], cards[n].pods[1:])
        elif cards[n].healthy and memory(cards[n])[0] < memory(cards[n])[1]:
            cards[n] = self._with_pod(cards[n])
        return replace(node, cards=tuple(cards), version=node.version + 1)

    def _spoil(self) -> None:
        """Break what breaks: silent nodes, one gone, a sick GPU, a held lock, MIG instances, a cordon."""
        now = self.now_ms
        for name in ("gpu-0011", "gpu-0012", "gpu-0013"):
            self._change(
                name, state="silent", registered_ms=now - 22 * 60_000, problem="handshake not answered"
            )
        self._change(
            "gpu-0031",
            state="gone",
            registered_ms=now - 3 * 3_600_000,
            problem="the vendor took its GPUs away",
        )
        self._change("gpu-0055", state="cordoned")
        self._change("gpu-0020", lock=f"2026-12-02T{self._hours(now - 12 * 60_000)}Z,vision,train-7")
        cards = list(self.nodes["gpu-0005"].cards)
        cards[3] = replace(_with_pods(cards[3], ()), healthy=False)
        slices = (SliceView("3g.40gb", 0, 4), SliceView("2g.20gb", 4, 2), SliceView("1g.10gb", 6, 1))
        cards[6] = replace(cards[6], mode="mig", slices=slices, slice_total=8)
        self._change("gpu-0005", cards=tuple(cards))
        empty = make_node_view(name="gpu-0999", cards=(), pool="train", state="unregistered")
        self.nodes["gpu-0999"] = replace(empty, problem="no register annotation")

    def _hours(self, at_ms: int) -> str:
        seconds = at_ms // 1000 % 86_400
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"

    def _change(self, name: str, **changes: Any) -> None:
        self.nodes[name] = replace(self.nodes[name], **changes)

    def _waiting(self) -> list[PendingPod]:
        now, minute = self.now_ms, 60_000
        memory = tuple(
            ReasonGroup(*group)
            for group in (
                ("8/8 CardInsufficientMemory", 24, ("gpu-0007", "gpu-0009", "gpu-0014")),
                (
                    "1/8 AllocatedCardsInsufficientRequest, 7/8 CardInsufficientMemory",
                    12,
                    ("gpu-0005", "gpu-0017"),
                ),
                ("8/8 CardTypeMismatch", 24, ("gpu-0027", "gpu-0041")),
            )
        )
        base = make_pending(last_try_ms=now - 4000, groups=memory)
        found = [
            replace(
                base,
                uid=f"m{n}",
                namespace=NAMESPACES[n % 6],
                name=f"train-{n}",
                since_ms=now - (181 - n * 5) * minute,
            )
            for n in range(31)
        ]
        quota = replace(base, cause=reasons.QUOTA_NOT_FIT, asks=(AskView("main", "NVIDIA", 1, 8192, 0, 30),))
        found += [
            replace(quota, uid=f"q{n}", namespace="vision", name=f"nb-{n}", since_ms=now - (41 - n) * minute)
            for n in range(6)
        ]
        model = replace(
            base, cause=reasons.CARD_TYPE_MISMATCH, asks=(AskView("main", "NVIDIA", 8, 0, 100, 100),)
        )
        found += [
            replace(model, uid=f"t{n}", namespace="research", name=f"huge-{n}", since_ms=now - 2880 * minute)
            for n in range(3)
        ]
        early = replace(
            base,
            cause="",
            tries=0,
            asked=0,
            groups=(),
            before_text="430 Insufficient cpu, 70 untolerated taint",
        )
        found += [
            replace(early, uid=f"e{n}", namespace="speech", name=f"early-{n}", since_ms=now - 9 * minute)
            for n in range(2)
        ]
        found.append(
            replace(base, uid="s1", namespace="ranking", name="stuck-1", cause="", placed_on="gpu-0020",
                    last_try_ms=now - 12 * minute, since_ms=now - 13 * minute, groups=())
        )  # fmt: skip
        return found

    def _quotas(self) -> tuple[QuotaView, ...]:
        found = []
        for number, namespace in enumerate(NAMESPACES):
            limit = 400 + number * 200
            used = limit * (97, 62, 35, 81, 12, 49)[number] // 100
            found.append(
                QuotaView(
                    namespace, "limits.nvidia.com/gpumem", used * 1024, limit * 1024, "gpu-quota", "MiB"
                )
            )
            found.append(
                QuotaView(namespace, "limits.nvidia.com/gpucores", used * 3, limit * 4, "gpu-quota", "%")
            )
        scaled = QuotaView(
            "research", "limits.cambricon.com/mlu.smlu.vmemory", 12, 4800, "mlu", "256 MiB", is_enforced=False
        )
        return (
            *found,
            scaled,
            QuotaView("research", "limits.amd.com/gpu", 12, None, "", "", is_enforced=False),
        )

    def _decision(self, at_ms: int) -> DecisionView:
        self._serial += 1
        namespace, job = self._random.choice(NAMESPACES), self._random.choice(JOBS)
        placed = self._random.random() < 0.6
        node = self._random.choice(sorted(self.nodes)) if placed else ""
        reason = "" if placed else "29 nodes 8/8 CardInsufficientMemory, 12 nodes 8/8 CardTypeMismatch"
        return DecisionView(
            at_ms=at_ms, namespace=namespace, pod=f"{job}-{self._serial % 97}", uid=f"d{self._serial}",
            kind="placed" if placed else "refused", node=node, score=14.25, asked=60,
            fitted=12 if placed else 0,
            duration_ms=round(self._random.uniform(1.1, 5.9), 1), reason=reason,
        )  # fmt: skip


def _with_pods(card: CardView, pods: tuple[PodShare, ...]) -> CardView:
    """Return the card with these pods, and sums to match."""
    return replace(
        card,
        pods=pods,
        shares=(sum(pod.shares for pod in pods), card.shares[1]),
        mem_mib=(sum(pod.mem_mib or 0 for pod in pods), memory(card)[1]),
        cores=(sum(pod.cores or 0 for pod in pods), cores(card)[1]),
    )
