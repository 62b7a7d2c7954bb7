"""What admission completes in a container that asks for a chip, step by step. Rules ASC-21 to ASC-27."""

from scheduler_app.core import plain_request, quantity
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.errors import AdmissionError
from scheduler_app.devices.ascend import split
from scheduler_app.devices.ascend.config import PAIRED, Chip


def complete(container: ContainerDraft, pod: PodDraft, *, chip: Chip, names: ResourceNames) -> None:
    """Write the memory that will be charged, and what goes with it.

    Raises:
        AdmissionError: odd counts of paired chips, cores without soft split, memory that no card has, slices
            of several cards.
    """
    asked = quantity.rounded(container.limits[names.count])
    plain_request.warn(container, names)
    if chip.common_word == PAIRED and chip.super_pod:
        _complete_pair(container, asked=asked, names=names)
    is_soft = split.is_soft(pod.annotations)
    if not is_soft:
        _refuse_cores(container, names=names)
    mem_mib = _memory(container, chip=chip, names=names, is_soft=is_soft)
    if asked > 1 and not is_soft and mem_mib != chip.memory_allocatable:
        raise AdmissionError("vNPU not supported for multiple devices")
    if names.mem:
        container.set_limit(names.mem, mem_mib)
        container.set_request(names.mem, mem_mib)
    if pod.runtime_class is None and chip.runtime_class_name:
        pod.set_runtime_class(chip.runtime_class_name)


def _complete_pair(container: ContainerDraft, *, asked: int, names: ResourceNames) -> None:
    """Make one paired chip two, and refuse other odd counts (ASC-22)."""
    if asked == 1:
        container.set_limit(names.count, 2)
        if names.count in container.requests:
            container.set_request(names.count, 2)
    elif asked % 2:
        raise AdmissionError(f"{PAIRED} device request must be 1 or 2*n, got {asked}")


def _refuse_cores(container: ContainerDraft, *, names: ResourceNames) -> None:
    """Refuse cores in hard split; cores of 0 in limits hide those in requests (ASC-23)."""
    cores = container.quantity_text(names.cores)
    if cores is not None and quantity.rounded(cores) > 0:
        raise AdmissionError(f"{names.cores} is only supported in hami-core (soft split) mode")


def _memory(container: ContainerDraft, *, chip: Chip, names: ResourceNames, is_soft: bool) -> int:
    """Return the memory to charge, MiB; only limits count (ASC-24)."""
    text = container.limits.get(names.mem)
    if text is None:
        return chip.memory_allocatable
    asked = quantity.rounded(text)
    if is_soft:
        return asked
    mem_mib = chip.template_for(asked).memory
    if mem_mib <= 0:
        raise AdmissionError(f"{names.mem} {asked} is invalid")
    return mem_mib
