"""Iluvatar: admission, requests, registration, fit of one chip word."""

from typing import Any

import pytest

from scheduler_app.core.errors import AdmissionError, CodecError, EmptyRegistrationError
from scheduler_app.core.fit import FitContext, FitResult
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, VendorKey
from scheduler_app.devices.iluvatar import VENDOR, Config, IluvatarBackend
from tests.factories import make_card, make_container, make_context, make_draft, make_node, make_pod

WORD = VendorKey("MR-V100")
NUM, MEM, CORES = "iluvatar.ai/MR-V100-vgpu", "iluvatar.ai/MR-V100.vMem", "iluvatar.ai/MR-V100.vCore"
REGISTER = "hami.io/node-MR-V100-register"


def make_iluvatar() -> IluvatarBackend:
    return IluvatarBackend(Config(NUM, MEM, CORES, chip_name="MR-V100", common_word="MR-V100"))


def request(**groups: dict[str, Any]) -> CardRequest | None:
    return make_iluvatar().request(make_container(**groups))


@pytest.mark.parametrize(
    ("limits", "cores"),
    [
        ({NUM: 1}, None),
        ({NUM: 1, CORES: 30, MEM: 64}, "30"),
        ({NUM: 2, CORES: 30}, "200"),
        ({NUM: 10}, "1k"),
        ({NUM: "1500m"}, "200"),
        ({NUM: 0}, None),
        ({NUM: -2}, None),
    ],
)
def test_several_cards_are_whole_cards(limits: dict[str, Any], cores: str | None) -> None:
    """ILU-20, ILU-E01 to ILU-E06: only limits change."""
    container = make_draft("c", limits=limits, requests={CORES: 30})
    assert make_iluvatar().mutate(container, container.pod)
    assert container.limits.get(CORES) == cores
    assert container.requests == {CORES: "30"}


@pytest.mark.parametrize(
    ("name", "env", "expected"),
    [
        ("c", [], [("SOL_CONTINER_NAME", "c")]),
        ("", [], []),
        ("c", [("SOL_CONTINER_NAME", "x")], [("SOL_CONTINER_NAME", "x")]),
        ("c", [("SOL_CONTAINER_NAME", "x")], [("SOL_CONTAINER_NAME", "x"), ("SOL_CONTINER_NAME", "c")]),
    ],
)
def test_a_container_is_told_its_name(
    name: str, env: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    """ILU-20, ILU-E07, ILU-E08: under the misspelt name, after the user's own."""
    container = make_draft(name, limits={NUM: 1})
    if env:
        container.raw["env"] = [{"name": key, "value": value} for key, value in env]
    make_iluvatar().mutate(container, container.pod)
    assert [(item["name"], item["value"]) for item in container.env()] == expected


def test_a_count_in_requests_only_is_not_ours() -> None:
    """ILU-20, ILU-E09: it is scheduled all the same."""
    groups: dict[str, Any] = {"requests": {NUM: 2, MEM: 4, CORES: 5}}
    container = make_draft(**groups)
    assert not make_iluvatar().mutate(container, container.pod)
    assert container.pod.operations == []
    assert request(**groups) == CardRequest(2, WORD, 1024, 0, 5)


@pytest.mark.parametrize("limits", [{NUM: 4294967297}, {NUM: 1, CORES: 4294967396}, {NUM: 30000000}])
def test_what_the_reference_would_wrap_is_refused(limits: dict[str, Any]) -> None:
    """ILU-21, ILU-23 as architecture, section 7 decides; 30000000 cards would be 3000000000 cores."""
    container = make_draft("train", limits=limits)
    with pytest.raises(AdmissionError, match="container train: must be a whole number between"):
        make_iluvatar().mutate(container, container.pod)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({NUM: 1}, CardRequest(1, WORD, 0, 100, 0)),
        ({NUM: 1, CORES: 30, MEM: 64}, CardRequest(1, WORD, 16384, 0, 30)),
        ({NUM: 2, CORES: 200}, CardRequest(2, WORD, 0, 100, 200)),
        ({NUM: 10, CORES: "1k"}, CardRequest(10, WORD, 0, 100, 1000)),
        ({NUM: 0}, CardRequest(0, WORD, 0, 100, 0)),
        ({NUM: -2}, CardRequest(-2, WORD, 0, 100, 0)),
        ({NUM: 1, CORES: "10500m"}, CardRequest(1, WORD, 0, 100, 0)),
        ({NUM: 1, CORES: -3}, CardRequest(1, WORD, 0, 100, -3)),
        ({NUM: 1, MEM: 0}, CardRequest(1, WORD, 0, 100, 0)),
        ({NUM: 1, MEM: 1000, CORES: 100}, CardRequest(1, WORD, 256000, 0, 100)),
    ],
)
def test_amounts_are_read_as_written(limits: dict[str, Any], expected: CardRequest) -> None:
    """ILU-21 to ILU-24, ILU-E01 to ILU-E04, ILU-E06, ILU-E10, ILU-E12, ILU-E13."""
    assert request(limits=limits) == expected


@pytest.mark.parametrize(
    "limits",
    [
        *({NUM: 1, MEM: memory} for memory in (-1, "1500m", 8388608, "16Gi", "16.0Gi")),
        *({NUM: count} for count in ("1500m", 4294967297)),
    ],
)
def test_what_cannot_be_read_asks_nothing(limits: dict[str, Any]) -> None:
    """ILU-21, ILU-22, ILU-E05, ILU-E11."""
    assert request(limits=limits) is None


def test_a_node_registers_its_cards_in_segments() -> None:
    """ILU-10, ILU-E14."""
    node = make_node(annotations={REGISTER: "GPU-x,10,32768,100,MR-V100,0,true:"})
    (card,) = make_iluvatar().node_cards(node)
    assert (card.id, card.shares, card.mode, card.vendor) == ("GPU-x", 10, "hami-core", WORD)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("[]", CodecError, "node annotation missing device separator"),
        ("", CodecError, "node annotation missing device separator"),
        (":", EmptyRegistrationError, "no gpu found on node"),
        (None, CodecError, f"annos not found {REGISTER}"),
    ],
)
def test_a_registration_without_cards_is_an_error(
    text: str | None, error: type[Exception], message: str
) -> None:
    """ILU-10, ILU-E15."""
    with pytest.raises(error, match=message):
        make_iluvatar().node_cards(make_node(annotations={} if text is None else {REGISTER: text}))


def cards(*used: tuple[int, int, int], **card: Any) -> list[CardUsage]:
    return [
        make_card(**{"id": "ab"[n], "vendor": WORD, "mem_mib": 32768, "used": use, **card})
        for n, use in enumerate(used)
    ]


def fit(candidates: list[CardUsage], context: FitContext | None = None, **asked: int) -> FitResult:
    count = asked.pop("count", 1)
    return make_iluvatar().fit(context or make_context(), candidates, CardRequest(count, WORD, **asked))


def test_whole_cards_count_100_cores_each() -> None:
    """ILU-25, ILU-33, ILU-E16."""
    result = fit(cards((0, 0, 0), (0, 0, 0)), count=2, mem_percent=100, cores=200)
    assert [(found.card, found.cores) for found in result.allocations] == [("b", 100), ("a", 100)]


WHOLE = {"count": 2, "mem_percent": 100, "cores": 200}


@pytest.mark.parametrize(
    ("candidates", "asked", "reason"),
    [
        (
            cards((0, 0, 0), (1, 0, 0)),
            WHOLE,
            "1/2 AllocatedCardsInsufficientRequest, 1/2 ExclusiveDeviceAllocateConflict",
        ),
        (cards((1, 256, 0)), {"mem_percent": 100}, "1/1 CardInsufficientMemory"),
        (cards((1, 0, 100)), {"mem_mib": 256}, "1/1 CardComputeUnitsExhausted"),
        (cards((1, 0, 100), mem_mib=128), {"mem_mib": 512, "cores": 50}, "1/1 CardInsufficientMemory"),
    ],
)
def test_what_is_in_use_is_not_given_again(
    candidates: list[CardUsage], asked: dict[str, Any], reason: str
) -> None:
    """ILU-33, ILU-E17, ILU-E19 to ILU-E21."""
    assert fit(candidates, **asked).reason == reason


@pytest.mark.parametrize(
    "annotations", [{"hami.io/use-MR-V100-uuid": "a"}, {"hami.io/no-use-MR-V100-uuid": "b"}]
)
def test_uuid_lists_choose_cards(annotations: dict[str, str]) -> None:
    """ILU-33, ILU-E18."""
    result = fit(
        cards((0, 0, 0), (0, 0, 0)), make_context(pod=make_pod(annotations=annotations)), mem_mib=256
    )
    assert [found.card for found in result.allocations] == ["a"]


def test_a_used_card_is_refused_to_whoever_wants_it_alone() -> None:
    """VB-13, ILU-E22."""
    result = fit(cards((1, 0, 0)), make_context(policy="mutex"), mem_mib=256)
    assert result.reason == "1/1 ExclusiveDeviceAllocateConflict"


def test_the_handover_has_the_same_text_twice() -> None:
    """ILU-35, ILU-E23."""
    given = ((Allocation(CardId("g0"), "MR-V100", 16384, 50),),)
    assert make_iluvatar().annotations(make_pod(), given, now_ns=0) == {
        "hami.io/MR-V100-devices-to-allocate": "g0,MR-V100,16384,50:;",
        "hami.io/MR-V100-devices-allocated": "g0,MR-V100,16384,50:;",
    }


def test_each_word_is_a_backend_of_its_own() -> None:
    """ILU-1, ILU-4, ILU-25, ILU-31, ILU-32: the handshake of a node that lost its plugin stays."""
    built = VENDOR.build([Config(common_word="MR-V50"), Config(common_word="BI-V150")])
    assert [backend.vendor_key for backend in built] == ["MR-V50", "BI-V150"]
    assert built[1].keys.handshake == "hami.io/node-handshake-BI-V150"
    assert built[1].cleanup_keys == ()
    assert (VENDOR.is_list, VENDOR.enabling_flag) == (True, "enable-iluvatar")
