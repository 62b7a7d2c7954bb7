"""The fit of Kunlun's cards: not card by card, but by where the free ones lie (KL-5 to KL-7, KLV-8)."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from scheduler_app.core import reasons, selection
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.fit import FitContext, FitResult, FitRun
from scheduler_app.core.types import CardRequest, CardUsage
from scheduler_app.devices.kunlun import topology

USE_XPU_UUID = "hami.io/use-xpu-uuid"
NO_USE_XPU_UUID = "hami.io/no-use-xpu-uuid"
USE_GPU_UUID = "baidu.com/use-gpuuuid"
NO_USE_GPU_UUID = "baidu.com/nouse-gpuuuid"


class SelectingBackend(DeviceBackend):
    """What whole cards and slices have in common."""

    @abstractmethod
    def is_free(self, run: FitRun, card: CardUsage) -> bool:
        """Say whether the container could have this card, uuid lists aside."""

    def fit(self, context: FitContext, cards: Sequence[CardUsage], request: CardRequest) -> FitResult:
        """Take the cards that topology selects; the common loop cannot, as it sees one card at a time (KL-5).

        Parity: where no card has a selected number, fewer cards than asked are given (KL-7).
        """
        run = self.new_run(context, request, cards)
        passing = [self.accepts_uuid(run, card) and self.is_free(run, card) for card in cards]
        numbers = [card.card.index for card in cards]
        selected = topology.select(numbers, passing, count=request.cards)
        if not selected:
            return FitResult.refused(self.why_not(run), cards=len(cards))
        by_number = {card.card.index: card for card in reversed(cards)}
        return FitResult(tuple(self.allocation(run, by_number[n]) for n in selected if n in by_number))

    def why_not(self, run: FitRun) -> Mapping[str, int]:
        """Return the reason why nothing was selected.

        Parity: uuid lists are blamed where they exclude any card, even if links were the obstacle (KL-E12).
        """
        excluded = {card.id for card in run.cards if not self.accepts_uuid(run, card)}
        if excluded:
            return {reasons.CARD_UUID_MISMATCH: len(excluded)}
        return {reasons.NUMA_NOT_FIT: 1}

    def accepts_uuid(self, run: FitRun, card: CardUsage) -> bool:
        """Both pairs of lists must agree (KL-6)."""
        given = run.context.pod.annotations
        return selection.accepts_uuid(
            given, card.id, use=USE_XPU_UUID, nouse=NO_USE_XPU_UUID
        ) and selection.accepts_uuid(given, card.id, use=USE_GPU_UUID, nouse=NO_USE_GPU_UUID)
