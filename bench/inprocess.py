"""The engine without HTTP, threads and API server: a scene loaded through the real decoders."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import django

from bench.scene import Scene, dumps
from scheduler_app import deviceconfig, vendortable
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.decision import AdmissionRefusal, BindOutcome, Decision
from scheduler_app.core.ports import Annotations
from scheduler_app.core.types import NodeName, Pod, VendorKey
from scheduler_app.engine.cache import ClusterState
from scheduler_app.engine.registration import cards_of
from scheduler_app.engine.reporting import Reporter
from scheduler_app.engine.scheduler import Scheduler
from scheduler_app.kube import decode


class Nobody:
    """Takes what the engine tells and writes, and does nothing with it."""

    def get_pod(self, pod: Pod) -> Pod | None:
        return pod

    def patch_pod(self, pod: Pod, *, annotations: Annotations, labels: Annotations | None = None) -> None:
        """No API server is there."""

    def bind(self, *, namespace: str, name: str, uid: str, node: NodeName) -> None:
        """No API server is there."""

    def pod_event(self, pod: Pod, *, type: str, reason: str, message: str) -> None:
        """Nobody reads Events."""

    def pod_events(self, pod: Pod, *, type: str, reason: str, messages: Callable[[], Sequence[str]]) -> None:
        """Nobody reads Events."""

    def node_event(self, node: NodeName, *, type: str, reason: str, message: str) -> None:
        """Nobody reads Events."""

    def record(self, decision: Decision) -> None:
        """Nobody keeps decisions."""

    def record_bind(self, outcome: BindOutcome) -> None:
        """Nobody keeps binds."""

    def record_refusal(self, refusal: AdmissionRefusal) -> None:
        """Nobody keeps refusals."""


@dataclass(frozen=True)
class Engine:
    state: ClusterState
    scheduler: Scheduler


def shipped_backends() -> Mapping[VendorKey, DeviceBackend]:
    """Return every kind of card of the shipped configuration, as the product has them with all flags set."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hami_site.settings")
    django.setup(set_prefix=False)
    text = vendortable.CONFIG.read_text(encoding="utf-8")
    return deviceconfig.load(text, vendortable.all_enabled()).backends


def engine(scene: Scene) -> Engine:
    """Return a scheduler that knows the scene."""
    backends = shipped_backends()
    state, nobody = ClusterState(backends), Nobody()
    for raw in scene.all_nodes():
        node = decode.decode_node(dumps(raw))
        state.merge_node(node, cards_of(node, backends))
    for raw in scene.all_pods():
        state.see_pod(decode.decode_pod(dumps(raw)))
    scheduler = Scheduler(
        backends=backends,
        state=state,
        writer=nobody,
        reporter=Reporter(events=nobody, log=nobody),
        config=SchedulerConfig(scheduler_name="hami-scheduler"),
        clock=time.time,
    )
    return Engine(state, scheduler)
