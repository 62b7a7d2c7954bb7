"""What a container asks of shared Metax cards, at admission and at extraction (MXS-5, MXS-6)."""

from scheduler_app.core import amounts, quantity
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import MIB_A_GIB, WHOLE_CARD_CORES, ResourceNames
from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.types import CardRequest, Container, VendorKey
from scheduler_app.devices.metax.sharing import (
    APP_CLASS,
    BEST_EFFORT,
    CLASSES,
    ONLINE,
    QOS_POLICIES,
    QOS_POLICY,
)

MIB = 1 << 20
LARGEST_GIB = quantity.INT32_MAX // MIB_A_GIB


def check(container: ContainerDraft, pod: PodDraft, names: ResourceNames) -> None:
    """Check class and policy of a pod that asks for shared cards; the policy defaults to best effort (MXS-5).

    Parity: the policy of an online pod is neither checked nor defaulted.

    Raises:
        AdmissionError: a class or policy that does not exist, or a class for several cards.
    """
    given = pod.annotations
    if APP_CLASS in given:
        if given[APP_CLASS] not in CLASSES:
            raise AdmissionError(f"{APP_CLASS} must be set one of [{', '.join(CLASSES)}]")
        if quantity.rounded(container.limits[names.count]) != 1:
            raise AdmissionError("app-class pod must request single device")
    if given.get(APP_CLASS) == ONLINE:
        return
    if QOS_POLICY not in given:
        pod.set_annotation(QOS_POLICY, BEST_EFFORT)
    elif given[QOS_POLICY] not in QOS_POLICIES:
        raise AdmissionError(f"{QOS_POLICY} must be set one of [{', '.join(QOS_POLICIES)}]")


def warn(container: ContainerDraft, names: ResourceNames) -> None:
    """Warn of amounts that are not read as written."""
    amounts.warn_unreadable(container, names.count, names.cores)
    text = container.limits.get(names.mem) if names.mem else None
    if text is not None and not memory_mib(text) and quantity.exact(text) != 0:
        container.pod.warn(
            f"container {container.name}: {names.mem} is {text}, must be a whole number of GiB between 0 and"
            f" {LARGEST_GIB} (multiples of 1000 count as bytes), or at least 1Mi with a unit"
        )


def request(container: Container, *, names: ResourceNames, vendor: VendorKey) -> CardRequest | None:
    """Read the limits, and the limits only (MXS-6)."""
    limits = container.limits
    count = quantity.scaled(limits.get(names.count, "")) if names.count else None
    cores = _cores(limits.get(names.cores)) if names.cores else WHOLE_CARD_CORES
    mem_mib = memory_mib(limits.get(names.mem, "0")) if names.mem else 0
    if not count or cores is None or mem_mib is None:
        return None
    return CardRequest(count, vendor, mem_mib, 0 if mem_mib else 100, cores)


def memory_mib(text: str) -> int | None:
    """Return MiB: a bare number is GiB, one with a unit is bytes; None for what 32 bits do not hold (MXS-6).

    Parity: an amount without exact reading is 0, the whole card; so is 1000, which is written ``1k``.
    """
    value = quantity.exact(text)
    if value is None:
        return 0
    if not quantity.has_unit(text):
        return quantity.scaled(text, MIB_A_GIB)
    mem_mib = quantity.divided(value, MIB)
    return mem_mib if 0 <= mem_mib <= quantity.INT32_MAX else None


def _cores(text: str | None) -> int | None:
    """Return percent, all of the card where none can be read; None for what is out of range."""
    if text is None or quantity.exact(text) is None:
        return WHOLE_CARD_CORES
    return quantity.scaled(text)
