"""Numbers: quantities, durations, scalars, weights, scores and orders."""

import struct
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_app.conformance.surface.canonical import amount
from scheduler_app.core import annotations, duration, quantity, text
from scheduler_app.core.findings import Findings
from scheduler_app.core.float32 import f32
from scheduler_app.core.predicate import Outcome
from scheduler_app.core.score import (
    ScoredCard,
    Weights,
    WeightsError,
    card_score,
    node_score,
    order_cards,
    parse_weights,
)
from scheduler_app.core.types import Card, CardId, CardRequest, CardUsage, NodeName, VendorKey

Json = dict[str, Any]
NO_PERCENTAGE = 101


def quantity_of(args: Json) -> Json:
    """Return both readings, sign and validity; of the canonical text we only know whether it has a unit."""
    given = args["text"]
    if not quantity.is_valid(given):
        return {"error": f"{given!r} is no quantity"}
    exact, value = quantity.exact(given), amount(given)
    assert value is not None  # noqa: S101  (valid by our own reading; a difference shows as an error)
    found: Json = {
        "is_int64": exact is not None,
        "sign": (value > 0) - (value < 0),
        "value_rounded_up": quantity.rounded(given),
        "has_unit": quantity.has_unit(given),
    }
    return found if exact is None else {**found, "int64": exact}


def duration_of(args: Json) -> Json:
    try:
        nanoseconds = duration.parse_nanoseconds(args["text"])
    except ValueError as exc:
        return {"error": str(exc)}
    return {"nanoseconds": nanoseconds, "printed": duration.format_nanoseconds(nanoseconds)}


def boolean_of(args: Json) -> Json:
    value = text.boolean(args["text"])
    return {"error": "no boolean"} if value is None else {"value": value}


def integer_of(bits: int) -> Callable[[Json], Json]:
    def read(args: Json) -> Json:
        try:
            return {"value": text.integer(args["text"], bits=bits)}
        except ValueError as exc:
            return {"error": str(exc)}

    return read


def weights_of(args: Json) -> Json:
    try:
        found = parse_weights(annotations.SCORING_WEIGHTS, args["text"])
    except WeightsError as exc:
        return {"error": str(exc)}
    return {"core": found.core, "memory": found.memory, "slot": found.slot}


def device_score(args: Json) -> Json:
    requests = [
        CardRequest(r["nums"], VendorKey(r["type"]), r["memreq"], r["mem_percentage"], r["cores"])
        for r in args["requests"]
    ]
    slot, core, memory = (f32(float(weight)) for weight in args["weights"])
    return _float(card_score(usage_of(args["device"]), requests, Weights(slot, core, memory)))


def node_score_of(args: Json) -> Json:
    return _float(node_score([usage_of(device) for device in args["devices"]]))


def order(args: Json) -> Json:
    cards = [ScoredCard(usage_of(device), f32(float(device["score"]))) for device in args["devices"]]
    order_cards(cards, policy=args["policy"], binds_numa=args.get("numa_bind", False))
    return {"order": [card.usage.id for card in cards]}


def order_nodes(args: Json) -> Json:
    """The order by score, the winner last, as a decision lists its nodes."""
    outcomes = {NodeName(node["name"]): Outcome({}, f32(float(node["score"]))) for node in args["nodes"]}
    found = [name for name, _ in Findings.of(outcomes, policy=args["policy"]).fitting]
    return {"order": found, "winner": found[-1] if found else ""}


def usage_of(device: Mapping[str, Any]) -> CardUsage:
    """Return a card with use from the recording's device."""
    card = Card(
        CardId(device["id"]),
        VendorKey(device.get("type", "")),
        device.get("type", ""),
        index=device.get("index", 0),
        shares=device.get("count", 0),
        mem_mib=device.get("totalmem", 0),
        cores=device.get("totalcore", 0),
        numa=device.get("numa", 0),
    )
    amounts = (device.get(name, 0) for name in ("used", "usedmem", "usedcores"))
    shares, mem_mib, cores = amounts
    return CardUsage.idle(card).plus(shares=shares, mem_mib=mem_mib, cores=cores)


def _float(value: float) -> Json:
    return {
        "hex": f"0x{struct.unpack('>I', struct.pack('>f', value))[0]:08x}",
        "two_decimals": f"{value:.2f}",
    }
