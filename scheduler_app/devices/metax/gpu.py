"""Metax GPUs that are given whole. Rules MX-1 to MX-11."""

from collections.abc import Hashable, Mapping, Sequence

from scheduler_app.core import accounting, codec, reasons
from scheduler_app.core import text as texts
from scheduler_app.core.backend import Keys, ResourceNames
from scheduler_app.core.errors import CodecError
from scheduler_app.core.fit import FitContext, FitRun
from scheduler_app.core.float32 import f32
from scheduler_app.core.quantity import INT64_MAX, INT64_MIN
from scheduler_app.core.score import ScoreInput
from scheduler_app.core.types import Allocation, Card, CardUsage, Node, VendorKey
from scheduler_app.core.wholecards import WholeCardBackend
from scheduler_app.devices.metax.config import Config

LOSSES = "metax-tech.com/gpu.topology.losses"
SCORES = "metax-tech.com/gpu.topology.scores"
BEST_SCORE = 2000


class GpuBackend(WholeCardBackend):
    """The common fit without uuid or type lists; containers of one pod can only have one card (MX-7)."""

    vendor_key = VendorKey("Metax-GPU")
    keys = Keys(
        allocated="hami.io/metax-gpu-devices-allocated",
        to_allocate="hami.io/metax-gpu-devices-to-allocate",
    )
    asked_cores = 100
    card_word = "metax"
    card_mem_mib = 65536

    def __init__(self, config: Config) -> None:
        self.names = ResourceNames(count=config.resource_count_name)

    def node_traits(self, node: Node, cards: Sequence[Card]) -> Hashable:
        return node.annotations.get(LOSSES), node.annotations.get(SCORES)

    def card_conflict(self, run: FitRun, card: CardUsage) -> str | None:
        """Refuse every card but the one that the pod's other containers hold already (MX-6, step 11)."""
        others = (held.card for held in self._held(run.context))
        return reasons.CARD_CUSTOM_RULE if any(name != card.id for name in others) else None

    def score_node(self, given: ScoreInput) -> float:
        """Return 2000 less what the node says that so many cards lose (binpack) or score (spread) (MX-9).

        Parity: it is not weighed by the policy, and a table that cannot be read counts as zeros.
        """
        key = {"binpack": LOSSES, "spread": SCORES}.get(given.policy, "")
        text = given.node.annotations.get(key)
        if text is None:
            return 0.0
        cards = sum(len(container) for container in given.containers)
        return f32(float(BEST_SCORE - _table(text).get(cards, 0)))

    def _held(self, context: FitContext) -> list[Allocation]:
        """Return what containers of the same phase hold: init, or those that run together (F-20, F-21)."""
        flags = accounting.init_flags(context.pod)
        ends_early = flags[context.position : context.position + 1] == (True,)
        earlier = enumerate(context.given.get(self.vendor_key, ()))
        return [
            held
            for position, container in earlier
            if (flags[position : position + 1] == (True,)) == ends_early
            for held in container
        ]


def _table(text: str) -> Mapping[int, int]:
    """Read ``{"<cards>":<number>}``; empty when any part of it is something else (MX-E07, MX-E08)."""
    try:
        data = codec.load_json(text)
        pairs = {texts.integer(key): value for key, value in data.items()} if isinstance(data, dict) else {}
    except (CodecError, ValueError):
        return {}
    found = {key: 0 if value is None else value for key, value in pairs.items()}
    return found if all(_is_int64(value) for value in found.values()) else {}


def _is_int64(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and INT64_MIN <= value <= INT64_MAX
