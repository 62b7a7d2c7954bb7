"""Who is told of a decision: Kubernetes Events, history and console, the log (F-35, F-42)."""

import logging
from dataclasses import replace

from scheduler_app.core.decision import Decision, Explain
from scheduler_app.core.ports import DecisionLog, EventSink
from scheduler_app.engine import notices

logger = logging.getLogger(__name__)


class Reporter:
    """Tells everybody who wants to know; none of it may block or fail.

    ``explain`` is for those who are told; no filter call asks it.
    """

    def __init__(self, *, events: EventSink, log: DecisionLog, explain: Explain | None = None) -> None:
        self._events = events
        self._log = log
        self._explain = explain

    def report(self, decision: Decision) -> Decision:
        """Tell of a decision and return it as it was told."""
        told = replace(decision, explain=self._explain)
        pod, is_placed = told.pod, told.kind == "placed"
        self._events.pod_events(
            pod,
            type=notices.NORMAL if is_placed else notices.WARNING,
            reason=notices.FILTERING_SUCCEED if is_placed else notices.FILTERING_FAILED,
            messages=lambda: messages(told),
        )
        self._log.record(told)
        logger.info(
            "filtered pod=%s kind=%s node=%s asked=%d fitted=%d ms=%.1f",
            pod.key,
            told.kind,
            told.chosen.node if told.chosen else "-",
            told.asked,
            told.findings.fitted,
            told.duration_ms,
        )
        return told


def messages(decision: Decision) -> list[str]:
    """Return the texts of a decision's Events."""
    if decision.kind == "placed" and decision.chosen:
        return [notices.placed(decision.chosen.node, decision.findings, asked=decision.asked)]
    if decision.kind == "error":
        return [decision.error]
    refused = [
        *notices.refusals(decision.findings.by_text),
        *notices.unregistered(decision.causes),
        notices.nothing_fits(decision.asked),
    ]
    priority = decision.pod.priority
    return [*refused, notices.not_preempted(priority)] if priority > 0 else refused
