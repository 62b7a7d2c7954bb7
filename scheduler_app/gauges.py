"""What our own gauges read at each scrape: caches, queues, watches, the last registration pass."""

import time
from collections.abc import Iterator

from scheduler_app.bootstrap import Parts

Sample = tuple[str, str, dict[str, str], float]
PREFIX = "hami_scheduler_"


def read(parts: Parts) -> Iterator[Sample]:
    """Yield name, help, labels and value of each sample; labels are bounded by the number of informers."""
    yield _plain("nodes_registered", "Nodes with cards.", len(parts.state.registered()))
    yield _plain("pods_counted", "Pods that hold cards.", len(parts.state.pods()))
    yield _plain("pods_waiting", "Pods of ours that wait.", len(parts.board.waiting()))
    yield _plain("binds_waiting", "Binds that wait their turn on a node.", parts.turns.waiting)
    yield _plain("handshakes_waiting", "Nodes whose annotations wait to be written.", len(parts.node_writes))
    yield _plain("history_queue_length", "Entries that wait for the database.", parts.history.length)
    yield _plain("history_dropped", "Entries dropped because the queue was full.", parts.history.dropped)
    yield _plain("is_leader", "1 while this replica leads.", int(parts.leadership.is_leader))
    ended = parts.registrar.report.ended
    age = time.time() - ended if ended else float("nan")
    yield _plain("registration_age_seconds", "Since the last registration pass ended.", age)
    yield _plain("registration_pass_seconds", "How long it took.", parts.registrar.report.seconds)
    counts = parts.events.counts
    for outcome in ("written", "dropped", "cut", "failed"):
        labels = {"outcome": outcome}
        yield (
            f"{PREFIX}events",
            "Kubernetes Events, by what became of them.",
            labels,
            getattr(counts, outcome),
        )
    work = parts.scheduler.work
    yield _plain("memo_candidates", "Nodes looked at by filter calls.", work.candidates)
    yield _plain("memo_misses", "Outcomes worked out on a node.", work.misses)
    yield _plain("node_states", "Different node states seen.", parts.state.distinct_states)
    for reflector in parts.reflectors.all():
        status = reflector.status()
        labels = {"resource": status.source.name}
        yield f"{PREFIX}informer_objects", "Objects an informer holds.", labels, status.source.objects
        yield f"{PREFIX}informer_lists", "Lists since the start.", labels, status.lists
        yield (
            f"{PREFIX}informer_malformed",
            "Objects and lines that could not be read.",
            labels,
            status.malformed,
        )
        yield f"{PREFIX}informer_drift", "Objects that a check found out of date.", labels, status.drift
        yield f"{PREFIX}informer_watches", "Watches opened since the start.", labels, status.watches


def _plain(name: str, text: str, value: float) -> Sample:
    return PREFIX + name, text, {}, float(value)
