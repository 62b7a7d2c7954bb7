"""What admission makes of a container that asks for NVIDIA cards (NV-20 to NV-29)."""

from dataclasses import dataclass

from scheduler_app.core import amounts, quantity
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.errors import AdmissionError
from scheduler_app.devices.nvidia.config import NvidiaConfig

ENV_PRIORITY = "CUDA_TASK_PRIORITY"
ENV_CORE_POLICY = "GPU_CORE_UTILIZATION_POLICY"
ENV_VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES"
DEFAULT_CORE_POLICY = "default"
WHOLE = 100  # percent of a card's memory, and its cores


@dataclass(frozen=True, slots=True)
class Admission:
    """Completes containers; environment variables come in the order of NV-28, after the user's own."""

    config: NvidiaConfig

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Apply the rules to one container and say whether it asks for NVIDIA cards.

        Raises:
            AdmissionError: the percentage is not one (NV-20), or an amount does not fit 32 bits.
        """
        config = self.config
        self._check(container)
        self._pass_settings_on(container)
        found = self._complete_count(container)
        found = self._take_whole_card(container) or found
        if found and pod.runtime_class is None and config.runtime_class_name:
            pod.set_runtime_class(config.runtime_class_name)
        if not found and config.overwrite_env:
            container.add_env(ENV_VISIBLE_DEVICES, "none")
        return found

    def _check(self, container: ContainerDraft) -> None:
        """NV-20 for every container, and the amounts nothing can be made of."""
        config = self.config
        name = config.resource_memory_percentage_name
        if (percent := _rounded(container, name)) is not None and not 0 <= percent <= WHOLE:
            raise AdmissionError(
                f"invalid {name} value {percent} in container {container.name}: "
                "must be an integer between 0 and 100"
            )
        amounts.refuse_wrapping(container, config.resource_count_name, config.resource_core_name)
        amounts.warn_unreadable(container, config.resource_count_name)
        amounts.warn_unreadable(container, config.resource_core_name, name, high=WHOLE)
        most = quantity.INT32_MAX // max(config.memory_factor, 1)
        amounts.warn_unreadable(container, config.resource_memory_name, high=most)

    def _pass_settings_on(self, container: ContainerDraft) -> None:
        """NV-21 and NV-22. Parity: the core policy goes to every container, with or without a card."""
        config = self.config
        if config.resource_priority_name and config.resource_priority_name in container.limits:
            priority = quantity.rounded(container.limits[config.resource_priority_name])
            container.add_env(ENV_PRIORITY, str(priority))
        if config.gpu_core_policy not in ("", DEFAULT_CORE_POLICY):
            container.add_env(ENV_CORE_POLICY, config.gpu_core_policy)

    def _complete_count(self, container: ContainerDraft) -> bool:
        """NV-23: memory or cores alone mean the default number of cards."""
        config = self.config
        limits = container.limits
        if config.resource_count_name in limits:
            return True
        parts = (
            config.resource_core_name,
            config.resource_memory_name,
            config.resource_memory_percentage_name,
        )
        if (
            not config.resource_count_name or config.default_gpu_num <= 0
        ):  # no limit under an empty name (NV-25)
            return False
        if not any(name and name in limits for name in parts):
            return False
        container.set_limit(config.resource_count_name, config.default_gpu_num)
        return True

    def _take_whole_card(self, container: ContainerDraft) -> bool:
        """NV-24: who asks for all of a card's memory gets all of its cores too."""
        config = self.config
        core = config.resource_core_name
        if not core or container.has(core) or not container.has(config.resource_count_name):
            return False
        if not self._is_exclusive(container):
            return False
        container.set_limit(core, WHOLE)
        return True

    def _is_exclusive(self, container: ContainerDraft) -> bool:
        """Parity: a percentage or memory of 0 is not exclusive, though scheduling reads a whole card."""
        percent = _rounded(container, self.config.resource_memory_percentage_name)
        if percent is not None:
            return percent == WHOLE
        return not container.has(self.config.resource_memory_name)


def _rounded(container: ContainerDraft, resource: str) -> int | None:
    text = container.quantity_text(resource)
    return None if text is None else quantity.rounded(text)
