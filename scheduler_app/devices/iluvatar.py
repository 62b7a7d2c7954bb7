"""Iluvatar: one backend a chip word, memory counts 256 MiB a unit. Rules ILU-1 to ILU-35."""

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_app.core import amounts, annotations, plain_request, quantity, registration_text
from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import DeviceBackend, Flag, Keys, NodeLock, Vendor
from scheduler_app.core.types import Card, CardRequest, Container, Node, VendorKey

CONTAINER_NAME_ENV = "SOL_CONTINER_NAME"  # misspelt on the wire
MIB_A_UNIT = 256
CORES_A_CARD = 100


@dataclass(frozen=True, slots=True)
class Config(plain_request.NamedAmounts):
    """One element of the list ``iluvatars`` (ILU-2). ``chip_name`` is for people."""

    chip_name: str = ""
    common_word: str = ""


class IluvatarBackend(DeviceBackend):
    """The standard fit for one chip word (ILU-33)."""

    node_lock = NodeLock(annotations.NODE_LOCK)

    def __init__(self, config: Config) -> None:
        word = config.common_word
        self.vendor_key = VendorKey(word)
        self.names = config.names(mem_factor=MIB_A_UNIT)
        self.keys = Keys(
            allocated=f"hami.io/{word}-devices-allocated",
            to_allocate=f"hami.io/{word}-devices-to-allocate",
            register=f"hami.io/node-{word}-register",
            handshake=f"hami.io/node-handshake-{word}",
            use_uuid=f"hami.io/use-{word}-uuid",
            nouse_uuid=f"hami.io/no-use-{word}-uuid",
        )

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        """Ask for whole cards where there are several, and tell the container its name (ILU-20)."""
        if not super().mutate(container, pod):
            return False
        amounts.refuse_wrapping(container, self.names.count)
        self._take_whole_cards(container)
        amounts.refuse_wrapping(container, self.names.cores)
        plain_request.warn(container, self.names)
        if container.name and all(env.get("name") != CONTAINER_NAME_ENV for env in container.env()):
            container.add_env(CONTAINER_NAME_ENV, container.name)
        return True

    def request(self, container: Container) -> CardRequest | None:
        return plain_request.read(container, self.names, type=self.vendor_key, default_cores=0)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        return registration_text.from_csv_annotation(node, key=self.keys.register, vendor=self.vendor_key)

    @property
    def cleanup_keys(self) -> tuple[str, ...]:
        """Nothing: the stale handshake stays until the plugin writes it anew (ILU-32)."""
        return ()

    def _take_whole_cards(self, container: ContainerDraft) -> None:
        """Write 100 cores a card into the limits (ILU-20).

        Parity: the request then asks count x 100 cores of every card; fit clamps that, admission's quota
        does not (ILU-25).
        """
        cards = quantity.rounded(container.limits[self.names.count])
        if cards > 1 and self.names.cores:
            container.set_limit(self.names.cores, cards * CORES_A_CARD)


def build(config: Sequence[Config]) -> Sequence[DeviceBackend]:
    return [IluvatarBackend(element) for element in config]


VENDOR = Vendor(
    name="iluvatar",
    title="Iluvatar",
    config_key="iluvatars",
    config=Config,
    build=build,
    rank=16,
    is_list=True,
    enabling_flag="enable-iluvatar",
    flags=(Flag("enable-iluvatar", False, help="create the Iluvatar backends"),),
)
