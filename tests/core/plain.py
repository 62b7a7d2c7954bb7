"""A vendor without peculiarities: the common rules of the contract, and nothing else."""

from collections.abc import Sequence

from scheduler_app.core import quantity, registration_text
from scheduler_app.core.backend import DeviceBackend, Keys, ResourceNames
from scheduler_app.core.fit import FitResult
from scheduler_app.core.types import Card, CardRequest, CardUsage, Container, Node, VendorKey
from tests.factories import make_card, make_context

COUNT, MEM, CORES = "plain.io/gpu", "plain.io/mem", "plain.io/cores"
USE_UUID, NOUSE_TYPE = "plain.io/use-uuid", "plain.io/nouse-type"
MODEL = "Plain-1"


class PlainBackend(DeviceBackend):
    vendor_key = VendorKey("Plain")
    names = ResourceNames(COUNT, MEM, CORES)
    keys = Keys(
        allocated="plain.io/allocated",
        to_allocate="plain.io/to-allocate",
        register="plain.io/register",
        handshake="plain.io/handshake",
        use_uuid=USE_UUID,
        nouse_uuid="plain.io/nouse-uuid",
        use_type="plain.io/use-type",
        nouse_type=NOUSE_TYPE,
    )

    def request(self, container: Container) -> CardRequest | None:
        limits = container.limits
        if COUNT not in limits:
            return None
        numbers = (quantity.exact(limits.get(name, "0")) or 0 for name in (COUNT, MEM, CORES))
        cards, mem_mib, cores = numbers
        return CardRequest(cards, self.vendor_key, mem_mib, 0, cores)

    def node_cards(self, node: Node) -> tuple[Card, ...]:
        return registration_text.from_json_annotation(node, key=self.keys.register, vendor=self.vendor_key)


PLAIN = PlainBackend()


def card(id: str = "a", **values: object) -> CardUsage:
    """Return an idle card of 10 shares, 1000 MiB and 100 cores."""
    return make_card(id=id, vendor="Plain", **{"type": MODEL, "mem_mib": 1000, **values})  # type: ignore[arg-type]


def ask(cards: int = 1, mem_mib: int = 100, percent: int = 101, cores: int = 10) -> CardRequest:
    return CardRequest(cards, PLAIN.vendor_key, mem_mib, percent, cores)


def fit(
    cards: Sequence[CardUsage],
    request: CardRequest | None = None,
    *,
    backend: DeviceBackend = PLAIN,
    **context: object,
) -> FitResult:
    return backend.fit(make_context(**context), cards, request or ask())  # type: ignore[arg-type]  # test data


def ids(result: FitResult) -> list[str]:
    return [taken.card for taken in result.allocations]
