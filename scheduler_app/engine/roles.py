"""Role labels of the scheduler's own pods, which the Service selects by (L-8, Q-29)."""

import logging

from scheduler_app.core import annotations
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.errors import HamiError
from scheduler_app.core.ports import NodeWriter, PodLister

logger = logging.getLogger(__name__)


class RoleLabels:
    """Labels the leader's pod ``leader`` and its siblings ``follower``; only with leader election (Q-29)."""

    def __init__(self, *, pods: PodLister, writer: NodeWriter, config: SchedulerConfig) -> None:
        self._pods = pods
        self._writer = writer
        self._config = config

    def maintain(self) -> None:
        config = self._config
        if not (config.leader_elect and config.pod_name and config.pod_namespace):
            return
        for pod in self._pods.list():
            if pod.namespace != config.pod_namespace:
                continue
            if pod.labels.get(annotations.COMPONENT) != annotations.COMPONENT_SCHEDULER:
                continue
            role = "leader" if pod.name == config.pod_name else "follower"
            if pod.labels.get(annotations.SCHEDULER_ROLE) == role:
                continue
            try:
                self._writer.label_pod(
                    namespace=pod.namespace, name=pod.name, labels={annotations.SCHEDULER_ROLE: role}
                )
            except HamiError as exc:
                logger.warning("role not labelled pod=%s role=%s error=%s", pod.key, role, exc)
